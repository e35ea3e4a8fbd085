import type { Batch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { type BatchRow, batchOfRow, selectBatches } from './batch-row.js';

/** One batch of an account; `null` when there is none, or it is another account's. */
export const findBatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Batch | null> => {
    const [row] = await db.$queryRaw<BatchRow[]>`
      ${selectBatches} WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid`;
    return row ? batchOfRow(row) : null;
  };
