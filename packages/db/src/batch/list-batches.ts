import type { Batch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { type BatchRow, batchOfRow, selectBatches } from './batch-row.js';

/** Batches of an account before `beforeId`, newest first. Ids are time-ordered, so the id is the whole keyset. */
export const listBatches =
  (db: Queryable) =>
  async (accountId: string, beforeId: string | null, limit: number): Promise<Batch[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND b.id < ${beforeId}::uuid`;
    const rows = await db.$queryRaw<BatchRow[]>`
      ${selectBatches} WHERE b.account_id = ${accountId}::uuid ${before} ORDER BY b.id DESC LIMIT ${limit}::int`;
    return rows.map(batchOfRow);
  };
