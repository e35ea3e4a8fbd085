import type { Batch, BatchStatus } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { inChunks } from '../in-chunks.js';

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
 * Selects batches `b` with their counts. A completed batch stores its counts; for the others the ended lines are counted,
 * which uses an index, and an account has at most five such batches.
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

/** One batch of an account; `null` when the account has no such batch. */
export const findBatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Batch | null> => {
    const [row] = await db.$queryRaw<BatchRow[]>`
      ${selectBatches} WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid`;
    return row ? batchOfRow(row) : null;
  };

/** Batches of an account before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor. */
export const listBatches =
  (db: Queryable) =>
  async (accountId: string, beforeId: string | null, limit: number): Promise<Batch[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND b.id < ${beforeId}::uuid`;
    const rows = await db.$queryRaw<BatchRow[]>`
      ${selectBatches} WHERE b.account_id = ${accountId}::uuid ${before} ORDER BY b.id DESC LIMIT ${limit}::int`;
    return rows.map(batchOfRow);
  };

/** Deletes a completed batch of an account with its lines, but not its checks. */
export const deleteBatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<'deleted' | 'running' | 'not_found'> => {
    const [row] = await db.$queryRaw<{ deleted: boolean; running: boolean }[]>`
      WITH gone AS (
        DELETE FROM batch WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid AND state = 'completed' RETURNING 1
      )
      SELECT EXISTS (SELECT 1 FROM gone) AS deleted, EXISTS (
        SELECT 1 FROM batch WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid AND state <> 'completed'
      ) AS running`;
    if (row?.deleted) return 'deleted';
    return row?.running ? 'running' : 'not_found';
  };

/** Batches per statement; each has up to ten thousand lines, which are deleted with it. */
const CHUNK = 5;

/**
 * Deletes batches that were completed before a point in time with their lines, but not their checks, in chunks; returns
 * their number. Also deletes the counts of uploaded lines older than a day, which no longer apply to the upload limit.
 */
export const deleteOldBatches =
  (db: Queryable) =>
  async (before: Date): Promise<number> => {
    await db.$executeRaw`
      DELETE FROM batch_upload WHERE created_at < ${before}::timestamptz - interval '1 day'`;
    return inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM batch WHERE id IN (
          SELECT id FROM batch WHERE state = 'completed' AND completed_at < ${before}::timestamptz LIMIT ${CHUNK}::int)`,
    );
  };

/** Marks the queued batches of requests as running. */
export const startBatches =
  (db: Queryable) =>
  async (requestIds: readonly string[]): Promise<void> => {
    await db.$executeRaw`
      UPDATE batch SET state = 'running' WHERE id IN (
        SELECT b.id FROM batch b WHERE b.state = 'queued'
          AND b.id IN (SELECT batch_id FROM batch_line WHERE request_id = ANY(${[...requestIds]}::uuid[]))
        FOR UPDATE SKIP LOCKED)`;
  };
