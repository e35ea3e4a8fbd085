import {
  type DispatchedLine,
  type DispatchQueue,
  LINES_IN_WINDOW,
  MAX_DISPATCHED,
  MEMBER_STATES,
  type MemberState,
  REFILL_AT,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

/** The first of the two numbers of a feed's advisory lock; the second is the member state. */
const DISPATCH_LOCKS = 0xfeed;

/**
 * Fills the window of a member state from the lines that wait outside it, round robin over the accounts: the k-th line that
 * an account has in the window has rank k, and low ranks are taken first. Marks them as fed, and their batches as running.
 * `null`: somebody else is feeding this member state at this moment; one that has just ended is safe although this
 * statement may not see it yet, since the lines that it took are looked at again before they are taken. However many lines wait, it reads a window's worth an
 * account, by the index of waiting lines.
 */
export const dispatchLines =
  (db: Queryable) =>
  async (memberState: MemberState, now: Date): Promise<DispatchedLine[] | null> => {
    const lock = MEMBER_STATES.indexOf(memberState);
    const waits = Prisma.sql`q.country_code = ${memberState} AND q.state = 'pending' AND NOT q.fed AND q.answer IS NULL`;
    const [row] = await db.$queryRaw<{ mine: boolean; ids: string[]; ranks: number[] }[]>`
      WITH RECURSIVE turn AS MATERIALIZED (
        SELECT pg_try_advisory_xact_lock(${DISPATCH_LOCKS}::int, ${lock}::int) AS mine
      ), inside AS MATERIALIZED (
        SELECT account_id, count(*)::int AS fed, count(*) FILTER (WHERE answer IS NULL)::int AS unanswered FROM request
        WHERE origin = 'batch' AND country_code = ${memberState} AND state = 'pending' AND fed GROUP BY account_id
      ), room AS MATERIALIZED (
        SELECT CASE WHEN (SELECT mine FROM turn) THEN GREATEST(0, LEAST(
          ${LINES_IN_WINDOW}::int - COALESCE(sum(unanswered), 0)::int, ${MAX_DISPATCHED}::int - COALESCE(sum(fed), 0)::int
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
        SELECT line.id, (COALESCE(inside.unanswered, 0) + line.place)::int AS rank
        FROM account CROSS JOIN LATERAL (
          SELECT first.id, first.due_at, row_number() OVER (ORDER BY first.due_at, first.id) AS place FROM (
            SELECT q.id, q.due_at FROM request q
            WHERE ${waits} AND q.account_id = account.id AND q.due_at <= ${now}::timestamptz
            ORDER BY q.due_at, q.id LIMIT (SELECT n FROM room)
          ) AS first
        ) AS line LEFT JOIN inside ON inside.account_id = account.id
        ORDER BY rank, line.due_at, line.id LIMIT (SELECT n FROM room)
      ), fed AS (
        UPDATE request q SET fed = true, due_at = ${now}::timestamptz
        FROM picked WHERE q.id = picked.id AND NOT q.fed RETURNING q.id, picked.rank
      ), started AS (
        -- Skipping locked rows: another member state's feed is doing the same to them.
        UPDATE batch SET state = 'running' WHERE id IN (
          SELECT b.id FROM batch b
          WHERE b.state = 'queued' AND b.id IN (SELECT l.batch_id FROM picked JOIN batch_line l ON l.request_id = picked.id)
          FOR UPDATE SKIP LOCKED)
      )
      SELECT (SELECT mine FROM turn) AS mine, ARRAY(SELECT id FROM fed ORDER BY rank, id) AS ids,
        ARRAY(SELECT rank FROM fed ORDER BY rank, id) AS ranks`;
    if (!row?.mine) return null;
    return row.ids.map((id, n) => ({ id, rank: row.ranks[n] ?? LINES_IN_WINDOW }));
  };

/**
 * Those of `lanes` in which lines wait and whose window is running low. It reads a few index entries a lane: scalar subqueries,
 * since Postgres would collect all that waits into a hash table for an EXISTS here.
 */
export const queuesToDispatch =
  (db: Queryable) =>
  async (lanes: readonly DispatchQueue[]): Promise<DispatchQueue[]> => {
    const rows = await db.$queryRaw<{ lane: DispatchQueue }[]>`
      SELECT lane FROM unnest(${[...lanes]}::text[]) AS l(lane)
      WHERE CASE WHEN lane = 'malformed'
        THEN (SELECT true FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL LIMIT 1)
        ELSE (
          SELECT true FROM request WHERE country_code = lane AND state = 'pending' AND NOT fed AND answer IS NULL LIMIT 1
        ) AND ${REFILL_AT}::int >= (
          SELECT count(*) FROM request
          WHERE origin = 'batch' AND country_code = lane AND state = 'pending' AND fed AND answer IS NULL
        ) END`;
    return rows.map((row) => row.lane);
  };
