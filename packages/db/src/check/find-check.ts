import type { StoredCheck } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** One check of an account; `null` when there is none, or it is another account's. */
export const findCheck =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<StoredCheck | null> => {
    const [row] = await db.$queryRaw<StoredCheck[]>`
      SELECT id, body AS bytes, hash FROM "check" WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid`;
    return row ?? null;
  };
