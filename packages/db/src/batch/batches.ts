import type { Batch, BatchStatus } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { inChunks } from '../in-chunks.js';
import { all, columns, query, typed } from '../query.js';

const BATCH = columns({
  id: 'uuid',
  status: typed<BatchStatus>('text'),
  ...all('text?', 'label', 'fileName'),
  ...all('int4', 'total', 'done', 'failed', 'valid', 'invalid'),
  createdAt: 'timestamptz',
  completedAt: 'timestamptz?',
});

/**
 * Selects batches `b` with their counts. A completed batch stores its counts; for the others the ended lines are counted,
 * which uses an index, and an account has at most five such batches.
 */
const selectBatches = Prisma.sql`
  SELECT b.id, b.state AS status, b.label, b.file_name AS "fileName", b.total, b.created_at AS "createdAt",
    b.completed_at AS "completedAt", b.done + ended.done AS done, b.failed + ended.failed AS failed,
    b.valid + ended.valid AS valid, b.done + ended.done - b.valid - ended.valid AS invalid
  FROM batch b CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE l.status = 'done')::int AS done, count(*) FILTER (WHERE l.status = 'failed')::int AS failed,
      count(*) FILTER (WHERE l.valid)::int AS valid
    FROM batch_line l
    WHERE b.state <> 'completed' AND l.batch_id = b.id AND l.status IN ('done', 'failed')
  ) ended`;

/** One batch of an account; `null` when the account has no such batch. */
export const findBatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Batch | null> => {
    const [row] = await query(db, BATCH)`
      ${selectBatches} WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid`;
    return row ?? null;
  };

/** Batches of an account before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor. */
export const listBatches =
  (db: Queryable) =>
  async (accountId: string, beforeId: string | null, limit: number): Promise<Batch[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND b.id < ${beforeId}::uuid`;
    return query(db, BATCH)`
      ${selectBatches} WHERE b.account_id = ${accountId}::uuid ${before} ORDER BY b.id DESC LIMIT ${limit}::int`;
  };

/** Deletes a completed batch of an account with its lines, but not its checks. */
export const deleteBatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<'deleted' | 'running' | 'not_found'> => {
    const [row] = await query(db, { deleted: 'bool', running: 'bool' })`
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
 * their number. Also deletes the counts of uploaded lines from before `uploadedBefore`.
 */
export const deleteOldBatches =
  (db: Queryable) =>
  async (before: Date, uploadedBefore: Date): Promise<number> => {
    await db.$executeRaw`DELETE FROM batch_upload WHERE created_at < ${uploadedBefore}::timestamptz`;
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
