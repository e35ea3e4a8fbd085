import type { Reader, StoredCheck } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** One check; `null` when there is none that `reader` may read. */
export const findCheck =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<StoredCheck | null> => {
    const [row] = await db.$queryRaw<StoredCheck[]>`
      SELECT id, body AS bytes, hash FROM "check"
      WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid AND (test OR NOT ${testOnly}::boolean)`;
    return row ?? null;
  };
