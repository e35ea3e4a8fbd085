import { isDeepStrictEqual } from 'node:util';
import { type Batch, type BatchCounts, batchCompletedBody, LINE_ENDINGS, newUuidAt } from '@vat/domain';
import { releaseUnitsOfGone } from '../account/usage.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, typed } from '../query.js';
import { reasonToGiveUp } from '../request/sweep-requests.js';
import { DAY_MS, idAt, NIL } from '../uuid-bounds.js';
import { publishToAccount } from '../webhook/events.js';

/** The live requests of at most `limit` lines of disabled accounts, found by the live batches of these, which are few. */
const linesOfDisabled = async (db: Queryable, limit: number): Promise<string[]> => {
  const rows = await query(db, { id: 'uuid' })`
    SELECT r.id FROM account a
    JOIN batch b ON b.account_id = a.id AND b.state <> 'completed'
    JOIN batch_line l ON l.batch_id = b.id AND l.status = 'queued'
    JOIN request r ON r.id = l.request_id AND r.ended_at IS NULL AND r.answer IS NULL
    WHERE a.disabled_at IS NOT NULL LIMIT ${limit}::int`;
  return rows.map(({ id }) => id);
};

/**
 * Ends requests of batches that are past their deadline or whose account was disabled: releases their units and fails their
 * lines. One call handles up to `limit` lines of each kind, since a disabled account may have tens of thousands. Skips
 * requests whose answer is being written. Returns the number of ended requests, and of those among them that were never looked
 * up: lines can share a request, so the number can be lower than `limit`, and only 0 means that none is left.
 */
export const endLostLines =
  (db: Queryable) =>
  async (now: Date, limit: number): Promise<{ ended: number; neverAsked: number }> => {
    const messages = JSON.stringify(Object.values(LINE_ENDINGS));
    const disabled = await linesOfDisabled(db, limit);
    const [row] = await query(db, all('int4', 'ended', 'neverAsked'))`
      WITH late AS (
        SELECT id FROM request
        WHERE state = 'pending' AND origin = 'batch' AND give_up_at < ${now}::timestamptz AND answer IS NULL
        LIMIT ${limit}::int FOR UPDATE SKIP LOCKED
      ), disabled AS (
        SELECT r.id FROM request r JOIN account a ON a.id = r.account_id AND a.disabled_at IS NOT NULL
        WHERE r.id = ANY(${disabled}::uuid[]) AND r.ended_at IS NULL AND r.answer IS NULL
        FOR UPDATE OF r SKIP LOCKED
      ), gone AS (
        UPDATE request r SET state = 'abandoned', ended_at = ${now}::timestamptz, asking_since = NULL,
          reason = CASE WHEN r.id IN (SELECT id FROM disabled) THEN 'ACCOUNT_DISABLED' ELSE ${reasonToGiveUp} END
        WHERE r.id = ANY(ARRAY(SELECT id FROM disabled UNION SELECT id FROM late))
        RETURNING r.id, r.account_id, r.quota_period, r.reason
      ), ${releaseUnitsOfGone()}, lines AS (
        UPDATE batch_line l SET status = 'failed', error_code = ending.code, error_message = ending.message
        FROM gone JOIN jsonb_to_recordset(${messages}::jsonb) AS ending(code text, message text) ON ending.code = gone.reason
        WHERE l.request_id = gone.id AND l.status = 'queued'
      )
      SELECT count(*)::int AS ended, count(*) FILTER (WHERE reason = 'NEVER_ASKED')::int AS "neverAsked" FROM gone`;
    return row ?? { ended: 0, neverAsked: 0 };
  };

/** A batch that was just completed. `deliveryId`: of batch.completed; null when the account has no endpoint. */
type CompletedNow = Pick<Batch, 'id' | 'total' | 'done' | 'failed' | 'valid' | 'invalid'> & {
  accountId: string;
  deliveryId: string | null;
};

const COUNTED = columns({ id: 'uuid', accountId: 'uuid', total: 'int4', done: 'int4', failed: 'int4', valid: 'int4' });

/**
 * Completes the batches that have no queued lines: state, counts, event and delivery in one statement, which takes effect
 * once even for concurrent calls. `ids`: the batches to check; null for all that are not completed, as in the sweep. Without
 * queued lines the counts cannot change, so they are read beforehand without a lock.
 */
export const completeBatches =
  (db: Queryable) =>
  async (ids: readonly string[] | null, now: Date): Promise<CompletedNow[]> => {
    const among = ids === null ? Prisma.empty : Prisma.sql`AND b.id = ANY(${[...ids]}::uuid[])`;
    const ended = await query(db, COUNTED)`
      WITH ended AS MATERIALIZED (
        SELECT b.id, b.account_id, b.total FROM batch b
        WHERE b.state <> 'completed' ${among} AND (
          SELECT true FROM batch_line l WHERE l.batch_id = b.id AND l.status = 'queued' LIMIT 1
        ) IS NULL
      )
      SELECT ended.id, ended.account_id AS "accountId", ended.total, c.done, c.failed, c.valid FROM ended CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE status = 'done')::int AS done, count(*) FILTER (WHERE status = 'failed')::int AS failed,
          count(*) FILTER (WHERE valid)::int AS valid
        FROM batch_line WHERE batch_id = ended.id
      ) c`;
    const completed: CompletedNow[] = [];
    for (const { accountId, ...counts } of ended) {
      const event = { id: newUuidAt(now), type: 'batch.completed' as const, body: batchCompletedBody(counts) };
      const about = Prisma.sql`SELECT id, account_id, false FROM done`;
      const [row] = await query(db, { deliveryId: 'uuid?' })`
        WITH done AS (
          UPDATE batch SET state = 'completed', done = ${counts.done}::int, failed = ${counts.failed}::int,
            valid = ${counts.valid}::int, invalid = ${counts.done - counts.valid}::int, completed_at = ${now}::timestamptz
          WHERE id = ${counts.id}::uuid AND state <> 'completed'
          RETURNING id, account_id
        ), ${publishToAccount(event, newUuidAt(now), now, about)}
        SELECT (SELECT id FROM sent) AS "deliveryId" FROM done`;
      if (row) completed.push({ ...counts, ...row, accountId, invalid: counts.done - counts.valid });
    }
    return completed;
  };

/** A completed batch whose counts differ from its lines, or which does not have exactly one event. */
type BatchDifference = { batchId: string; counts: BatchCounts; counted: BatchCounts; events: number };

/** Batches per statement; each has up to ten thousand lines. */
const AUDITED = 10;

const DIFFERENCE = columns({
  batchId: 'uuid',
  completedAt: 'timestamptz!',
  events: 'int4',
  counts: typed<BatchCounts>('jsonb'),
  counted: typed<BatchCounts>('jsonb'),
});

/** Recounts the lines of the batches completed since a point in time, a few at a time, and returns at most `limit` differences. */
export const auditBatches =
  (db: Queryable) =>
  async (since: Date, limit: number): Promise<BatchDifference[]> => {
    const differences: BatchDifference[] = [];
    for (let last = { completedAt: since, batchId: NIL }; differences.length < limit; ) {
      const rows = await query(db, DIFFERENCE)`
        SELECT b.id AS "batchId", b.completed_at AS "completedAt", published.events, to_jsonb(stored) AS counts,
          to_jsonb(c) AS counted
        FROM (
          SELECT id, completed_at, done, failed, valid, invalid FROM batch
          WHERE state = 'completed' AND completed_at >= ${last.completedAt}::timestamptz
            AND (completed_at, id) > (${last.completedAt}::timestamptz, ${last.batchId}::uuid)
          ORDER BY completed_at, id LIMIT ${AUDITED}::int
        ) AS b
        CROSS JOIN LATERAL (SELECT b.done, b.failed, b.valid, b.invalid) AS stored
        CROSS JOIN LATERAL (
          SELECT count(*) FILTER (WHERE status = 'done') AS done, count(*) FILTER (WHERE status = 'failed') AS failed,
            count(*) FILTER (WHERE status = 'done' AND valid) AS valid,
            count(*) FILTER (WHERE status = 'done' AND NOT valid) AS invalid
          FROM batch_line WHERE batch_id = b.id
        ) AS c
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS events FROM event
          WHERE type = 'batch.completed' AND subject_id = b.id AND id >= ${idAt(new Date(since.getTime() - DAY_MS))}::uuid
        ) AS published
        ORDER BY b.completed_at, b.id`;
      for (const { completedAt: _at, ...row } of rows)
        if (row.events !== 1 || !isDeepStrictEqual(row.counts, row.counted)) differences.push(row);
      const end = rows.at(-1);
      if (end === undefined || rows.length < AUDITED) break;
      last = end;
    }
    return differences.slice(0, limit);
  };
