import type { Batch, BatchStatus } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** A row of {@link selectBatches}, as raw queries return it. */
export type BatchRow = {
  id: string;
  state: BatchStatus;
  label: string | null;
  file_name: string | null;
  total: number;
  done: number;
  failed: number;
  valid: number;
  created_at: Date;
  completed_at: Date | null;
};

/**
 * Selects batches `b` with their counts: those of a completed batch lie in its row; of one that runs its ended lines are
 * counted, which reads an index and at most five batches an account.
 */
export const selectBatches = Prisma.sql`
  SELECT b.id, b.state, b.label, b.file_name, b.total, b.created_at, b.completed_at,
    b.done + ended.done AS done, b.failed + ended.failed AS failed, b.valid + ended.valid AS valid
  FROM batch b CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.status = 'done')::int AS done, count(*) FILTER (WHERE l.status = 'failed')::int AS failed,
      count(*) FILTER (WHERE l.valid)::int AS valid
    FROM batch_line l
    WHERE b.state <> 'completed' AND l.batch_id = b.id AND l.status IN ('done', 'failed')
  ) ended`;

/** The domain's batch from its row. */
export const batchOfRow = (row: BatchRow): Batch => ({
  id: row.id,
  status: row.state,
  label: row.label,
  fileName: row.file_name,
  total: row.total,
  done: row.done,
  failed: row.failed,
  valid: row.valid,
  invalid: row.done - row.valid,
  createdAt: row.created_at,
  completedAt: row.completed_at,
});
