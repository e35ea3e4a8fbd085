import {
  type DispatchedLine,
  type DispatchQueue,
  LINES_IN_WINDOW,
  MAX_DISPATCHED,
  type MemberState,
  REFILL_AT,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { MEMBER_STATE_NUMBERS } from '../member-state-numbers.js';
import { all, isSameId, query, typed } from '../query.js';
import { madeAfter, recentId } from '../uuid-bounds.js';

/** The first of the two numbers of the advisory lock for dispatching; the second is the member state. */
const DISPATCH_LOCKS = 0xfeed;

/**
 * Fills the window of a member state with waiting lines, round robin over the accounts: the k-th line of an account in the
 * window has rank k, and low ranks are dispatched first. Marks the lines as dispatched (column `fed`) and their batches as running.
 * `null` when another process dispatches this member state at the same time. If that process has just committed and this
 * statement does not see it yet, no line is dispatched twice, since the UPDATE checks `fed` again. The statement reads at
 * most one window of lines per account, by the index of waiting lines, however many lines wait.
 */
export const dispatchLines =
  (db: Queryable) =>
  async (memberState: MemberState, now: Date): Promise<DispatchedLine[] | null> => {
    const lock = MEMBER_STATE_NUMBERS[memberState];
    // Older lines have reached their deadline, and the sweep ends them.
    const recent = recentId(now);
    const waits = Prisma.sql`q.country_code = ${memberState} AND q.state = 'pending' AND NOT q.fed AND q.answer IS NULL
      AND q.id >= ${recent}::uuid`;
    const [row] = await query(db, { mine: 'bool', ...all('uuid[]', 'ids', 'accounts'), ranks: 'int4[]' })`
      WITH RECURSIVE lock AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(${DISPATCH_LOCKS}::int, ${lock}::int) AS mine
      ), inside AS MATERIALIZED (
        SELECT account_id, count(*)::int AS dispatched, count(*) FILTER (WHERE answer IS NULL)::int AS unanswered FROM request
        WHERE origin = 'batch' AND country_code = ${memberState} AND state = 'pending' AND fed AND id >= ${recent}::uuid
        GROUP BY account_id
      ), room AS MATERIALIZED (
        SELECT CASE WHEN (SELECT mine FROM lock) THEN GREATEST(0, LEAST(
          ${LINES_IN_WINDOW}::int - COALESCE(sum(unanswered), 0)::int, ${MAX_DISPATCHED}::int - COALESCE(sum(dispatched), 0)::int
        )) ELSE 0 END AS n
        FROM inside
      ), account(id) AS (
        (SELECT q.account_id FROM request q WHERE ${waits} AND (SELECT n > 0 FROM room)
          ORDER BY q.account_id LIMIT 1)
        UNION ALL
        SELECT (SELECT q.account_id FROM request q WHERE ${waits} AND q.account_id > account.id
          ORDER BY q.account_id LIMIT 1)
        FROM account WHERE account.id IS NOT NULL
      ), picked AS (
        SELECT line.id, account.id AS account_id, (COALESCE(inside.unanswered, 0) + line.turn)::int AS rank
        FROM account CROSS JOIN LATERAL (
          SELECT first.id, first.due_at, row_number() OVER (ORDER BY first.due_at, first.id) AS turn FROM (
            SELECT q.id, q.due_at FROM request q
            WHERE ${waits} AND q.account_id = account.id AND q.due_at <= ${now}::timestamptz
            ORDER BY q.due_at, q.id LIMIT (SELECT n FROM room)
          ) AS first
        ) AS line LEFT JOIN inside ON inside.account_id = account.id
        ORDER BY rank, line.due_at, line.id LIMIT (SELECT n FROM room)
      ), dispatched AS (
        UPDATE request q SET fed = true, due_at = ${now}::timestamptz
        FROM picked
        WHERE q.id = ANY(ARRAY(SELECT id FROM picked)) AND ${isSameId(Prisma.sql`q.id`, Prisma.sql`picked.id`)}
          AND q.id >= ${recent}::uuid AND NOT q.fed
        RETURNING q.id, q.account_id, picked.rank
      ), started AS (
        -- Skips locked rows, which the dispatch of another member state is updating.
        UPDATE batch SET state = 'running' WHERE id IN (
          SELECT b.id FROM batch b
          WHERE b.state = 'queued' AND b.id IN (SELECT l.batch_id FROM picked JOIN batch_line l ON l.request_id = picked.id)
          FOR UPDATE SKIP LOCKED)
      )
      SELECT (SELECT mine FROM lock) AS mine, ARRAY(SELECT id FROM dispatched ORDER BY rank, id) AS ids,
        ARRAY(SELECT account_id FROM dispatched ORDER BY rank, id) AS accounts,
        ARRAY(SELECT rank FROM dispatched ORDER BY rank, id) AS ranks`;
    if (!row?.mine) return null;
    return row.ids.map((id, n) => ({ id, accountId: row.accounts[n] ?? '', rank: row.ranks[n] ?? LINES_IN_WINDOW }));
  };

/**
 * Lower than every request of a batch that is not completed; null when all are. Malformed lines are recorded however long the
 * whole service was stopped, and only the months since their upload are read.
 */
export const unfinishedSince = async (db: Queryable): Promise<Prisma.Sql | null> => {
  const [oldest] = await query(db, { id: 'uuid' })`
    SELECT id FROM batch WHERE state <> 'completed' ORDER BY id LIMIT 1`;
  return oldest ? madeAfter(oldest.id) : null;
};

/**
 * Returns those of the dispatch queues that have waiting lines and room in their window. Reads a few index entries per queue:
 * scalar subqueries, because for EXISTS Postgres would collect all waiting lines into a hash table.
 */
export const queuesToDispatch =
  (db: Queryable, now: () => Date = () => new Date()) =>
  async (queues: readonly DispatchQueue[]): Promise<DispatchQueue[]> => {
    const recent = recentId(now());
    const oldest = queues.includes('malformed') ? await unfinishedSince(db) : null;
    const served = queues.filter((queue) => queue !== 'malformed' || oldest !== null);
    const rows = await query(db, { queue: typed<DispatchQueue>('text') })`
      SELECT queue FROM unnest(${served}::text[]) AS q(queue)
      WHERE CASE WHEN queue = 'malformed'
        THEN (SELECT true FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL
          AND id >= ${oldest ?? recent}::uuid LIMIT 1)
        ELSE (
          SELECT true FROM request WHERE country_code = queue AND state = 'pending' AND NOT fed AND answer IS NULL
            AND id >= ${recent}::uuid LIMIT 1
        ) AND ${REFILL_AT}::int >= (
          SELECT count(*) FROM request
          WHERE origin = 'batch' AND country_code = queue AND state = 'pending' AND fed AND answer IS NULL
            AND id >= ${recent}::uuid
        ) END`;
    return rows.map((row) => row.queue);
  };
