import type { LookupEnd, MemberState, MinuteTally, QueueDepth } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Adds the counts of one worker to those of all workers, per minute. */
export const recordMinutes =
  (db: Queryable) =>
  async (tallies: readonly MinuteTally[]): Promise<void> => {
    if (tallies.length === 0) return;
    const rows = tallies.map((tally) => ({
      member_state: tally.memberState,
      minute: tally.minute.toISOString(),
      ended: tally.end,
      asks: tally.lookups,
      buckets: tally.buckets,
    }));
    // Rows are written in a fixed order, which prevents deadlocks between workers.
    await db.$executeRaw`
      INSERT INTO upstream_minute (member_state, minute, ended, asks, buckets)
      SELECT x.member_state, x.minute, x.ended, x.asks, x.buckets
      FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) AS x(member_state text, minute timestamptz, ended text,
        asks int, buckets int[])
      ORDER BY x.member_state, x.minute, x.ended
      ON CONFLICT (member_state, minute, ended) DO UPDATE SET asks = upstream_minute.asks + excluded.asks,
        buckets = (SELECT array_agg(COALESCE(a, 0) + COALESCE(b, 0) ORDER BY n)
          FROM unnest(upstream_minute.buckets, excluded.buckets) WITH ORDINALITY AS sums(a, b, n))`;
  };

/** The counts per minute since `from`. */
export const readMinutes =
  (db: Queryable) =>
  async (from: Date): Promise<MinuteTally[]> => {
    const rows = await db.$queryRaw<
      { member_state: MemberState; minute: Date; ended: LookupEnd; asks: number; buckets: number[] }[]
    >`SELECT member_state, minute, ended, asks, buckets FROM upstream_minute WHERE minute >= ${from}::timestamptz`;
    return rows.map((row) => ({
      memberState: row.member_state,
      minute: row.minute,
      end: row.ended,
      lookups: row.asks,
      buckets: row.buckets,
    }));
  };

/** Deletes the counts before `before`; the status page shows only recent minutes. */
export const deleteMinutes =
  (db: Queryable) =>
  async (before: Date): Promise<number> =>
    db.$executeRaw`DELETE FROM upstream_minute WHERE minute < ${before}::timestamptz`;

/**
 * The number of due and unanswered requests of live keys, by member state. Batch lines count once they are dispatched, since
 * the others do not wait for a slot yet. Reads only the index of live requests.
 */
export const queueDepths =
  (db: Queryable) =>
  async (now: Date): Promise<QueueDepth[]> => {
    const rows = await db.$queryRaw<{ country_code: MemberState; depth: number; oldest: Date }[]>`
      SELECT country_code, count(*)::int AS depth, min(due_at) AS oldest FROM request
      WHERE state IN ('waiting', 'pending') AND fed AND answer IS NULL AND NOT test AND due_at <= ${now}::timestamptz
      GROUP BY country_code`;
    return rows.map((row) => ({ memberState: row.country_code, depth: row.depth, oldestDueAt: row.oldest }));
  };
