import type { Watch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { WATCH_COLUMNS } from './watch-columns.js';

/** Watches of an account before `beforeId`, newest first. */
export const listWatches =
  (db: Queryable) =>
  (accountId: string, beforeId: string | null, limit: number): Promise<Watch[]> =>
    db.$queryRaw<Watch[]>`
      SELECT ${WATCH_COLUMNS} FROM watch w
      WHERE w.account_id = ${accountId}::uuid ${beforeId ? Prisma.sql`AND w.id < ${beforeId}::uuid` : Prisma.empty}
      ORDER BY w.id DESC LIMIT ${limit}::int`;
