import type { RecordedChange } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

/** Changes of an account's watch before `beforeId`, newest first; `null` when there is no such watch, or it is another account's. */
export const listChanges =
  (db: Queryable) =>
  async (
    watchId: string,
    accountId: string,
    beforeId: string | null,
    limit: number,
  ): Promise<RecordedChange[] | null> => {
    const found = await db.$queryRaw<unknown[]>`
      SELECT 1 FROM watch WHERE id = ${watchId}::uuid AND account_id = ${accountId}::uuid`;
    if (found.length === 0) return null;
    return db.$queryRaw<RecordedChange[]>`
      SELECT id, kind, before, after, check_id AS "checkId", changed_at AS "changedAt" FROM watch_change
      WHERE watch_id = ${watchId}::uuid ${beforeId ? Prisma.sql`AND id < ${beforeId}::uuid` : Prisma.empty}
      ORDER BY id DESC LIMIT ${limit}::int`;
  };
