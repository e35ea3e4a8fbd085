import type { BatchCounts } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** A completed batch whose counts are not what its lines say, or whose event is missing. */
export type BatchDifference = { batchId: string; counts: BatchCounts; counted: BatchCounts; events: number };

/** Counts the lines of the batches completed since a moment anew and returns where that differs from what was told. */
export const auditBatches =
  (db: Queryable) =>
  async (since: Date, limit: number): Promise<BatchDifference[]> => {
    const rows = await db.$queryRaw<{ id: string; events: number; counts: BatchCounts; counted: BatchCounts }[]>`
      SELECT b.id, told.events, to_jsonb(kept) AS counts, to_jsonb(c) AS counted
      FROM batch b
      CROSS JOIN LATERAL (SELECT b.done, b.failed, b.valid, b.invalid) AS kept
      CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE status = 'done') AS done, count(*) FILTER (WHERE status = 'failed') AS failed,
          count(*) FILTER (WHERE status = 'done' AND valid) AS valid,
          count(*) FILTER (WHERE status = 'done' AND NOT valid) AS invalid
        FROM batch_line WHERE batch_id = b.id
      ) AS c
      CROSS JOIN LATERAL (
        SELECT count(*)::int AS events FROM event WHERE type = 'batch.completed' AND subject_id = b.id
      ) AS told
      WHERE b.state = 'completed' AND b.completed_at >= ${since}::timestamptz
        AND (to_jsonb(kept) <> to_jsonb(c) OR told.events <> 1)
      LIMIT ${limit}::int`;
    return rows.map(({ id, ...row }) => ({ batchId: id, ...row }));
  };
