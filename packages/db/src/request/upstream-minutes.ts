import type { LookupEnd, MemberState, MinuteTally, QueueDepth } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Adds what a worker counted to the minutes of the fleet. */
export const recordMinutes =
  (db: Queryable) =>
  async (tallies: readonly MinuteTally[]): Promise<void> => {
    if (tallies.length === 0) return;
    const rows = tallies.map((tally) => ({
      member_state: tally.memberState,
      minute: tally.minute.toISOString(),
      ended: tally.end,
      asks: tally.asks,
      buckets: tally.buckets,
    }));
    // In a fixed order, so that two workers that write at once cannot lock each other out.
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

/** The minutes since `from`. */
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
      asks: row.asks,
      buckets: row.buckets,
    }));
  };

/** Deletes minutes before `before`; a status page needs minutes, not years. */
export const deleteMinutes =
  (db: Queryable) =>
  async (before: Date): Promise<number> =>
    db.$executeRaw`DELETE FROM upstream_minute WHERE minute < ${before}::timestamptz`;

/**
 * Live requests of live keys that are due and unanswered, by member state; of batches those that are in Redis, since the
 * others wait for nobody's slot yet. Reads the index of live requests alone.
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
