import type { Watch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { WATCH_COLUMNS } from './watch-columns.js';

/** One watch of an account; `null` when there is none, or it is another account's. */
export const findWatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Watch | null> => {
    const [row] = await db.$queryRaw<Watch[]>`
      SELECT ${WATCH_COLUMNS} FROM watch w WHERE w.id = ${id}::uuid AND w.account_id = ${accountId}::uuid`;
    return row ?? null;
  };
