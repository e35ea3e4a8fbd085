import {
  type HourTally,
  hourTallies,
  type LookupEnd,
  MEMBER_STATES,
  type MemberState,
  type MinuteTally,
  type Wait,
  type WaitClass,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, typed } from '../query.js';
import { recentId } from '../uuid-bounds.js';

/** Adds the counts of one worker to those of all workers, per minute and per hour. */
export const recordMinutes =
  (db: Queryable) =>
  async (tallies: readonly MinuteTally[]): Promise<void> => {
    if (tallies.length === 0) return;
    // Rows are written in a fixed order, which prevents deadlocks between workers.
    await db.$executeRaw`
      WITH hours AS (
        INSERT INTO upstream_hour (member_state, hour, answered, saturated, unavailable, buckets)
        SELECT x."memberState", x.hour, x.answered, x.saturated, x.unavailable, x.buckets
        FROM jsonb_to_recordset(${JSON.stringify(hourTallies(tallies))}::jsonb) AS x("memberState" text, hour timestamptz,
          answered int, saturated int, unavailable int, buckets int[])
        ORDER BY x.hour, x."memberState"
        ON CONFLICT (hour, member_state) DO UPDATE SET answered = upstream_hour.answered + excluded.answered,
          saturated = upstream_hour.saturated + excluded.saturated,
          unavailable = upstream_hour.unavailable + excluded.unavailable,
          buckets = (SELECT array_agg(COALESCE(a, 0) + COALESCE(b, 0) ORDER BY n)
            FROM unnest(upstream_hour.buckets, excluded.buckets) WITH ORDINALITY AS sums(a, b, n))
      )
      INSERT INTO upstream_minute (member_state, minute, ended, asks, lines, buckets)
      SELECT x."memberState", x.minute, x."end", x.lookups, x.lines, x.buckets
      FROM jsonb_to_recordset(${JSON.stringify(tallies)}::jsonb) AS x("memberState" text, minute timestamptz, "end" text,
        lookups int, lines int, buckets int[])
      ORDER BY x."memberState", x.minute, x."end"
      ON CONFLICT (member_state, minute, ended) DO UPDATE SET asks = upstream_minute.asks + excluded.asks,
        lines = upstream_minute.lines + excluded.lines,
        buckets = (SELECT array_agg(COALESCE(a, 0) + COALESCE(b, 0) ORDER BY n)
          FROM unnest(upstream_minute.buckets, excluded.buckets) WITH ORDINALITY AS sums(a, b, n))`;
  };

const MINUTE = columns({
  memberState: typed<MemberState>('text'),
  minute: 'timestamptz',
  end: typed<LookupEnd>('text'),
  ...all('int4', 'lookups', 'lines'),
  buckets: 'int4[]!',
});

/** The counts per minute since `from`. */
export const readMinutes =
  (db: Queryable) =>
  async (from: Date): Promise<MinuteTally[]> => {
    return query(db, MINUTE)`
      SELECT member_state AS "memberState", minute, ended AS "end", asks AS lookups, lines, buckets
      FROM upstream_minute
      WHERE minute >= ${from}::timestamptz`;
  };

const HOUR = columns({
  memberState: typed<MemberState>('text'),
  hour: 'timestamptz',
  ...all('int4', 'answered', 'saturated', 'unavailable'),
  buckets: 'int4[]!',
});

/** The counts per hour from `from` until before `to`, oldest first; of one member state unless it is null. */
export const readHours =
  (db: Queryable) =>
  async (from: Date, to: Date, memberState: MemberState | null): Promise<HourTally[]> =>
    query(db, HOUR)`
      SELECT member_state AS "memberState", hour, answered, saturated, unavailable, buckets FROM upstream_hour
      WHERE hour >= ${from}::timestamptz AND hour < ${to}::timestamptz
        AND (${memberState}::text IS NULL OR member_state = ${memberState})
      ORDER BY hour, member_state`;

/** Deletes the counts per hour before `before`. */
export const deleteHours =
  (db: Queryable) =>
  async (before: Date): Promise<number> =>
    db.$executeRaw`DELETE FROM upstream_hour WHERE hour < ${before}::timestamptz`;

/** Deletes the counts before `before`; the status page shows only recent minutes. */
export const deleteMinutes =
  (db: Queryable) =>
  async (before: Date): Promise<number> =>
    db.$executeRaw`DELETE FROM upstream_minute WHERE minute < ${before}::timestamptz`;

const WAIT = columns({
  memberState: typed<MemberState>('text'),
  class: typed<WaitClass>('text'),
  dispatched: 'bool',
  depth: 'int4',
  oldestDueAt: 'timestamptz',
});

/**
 * What waits for a lookup of live keys, by member state and class: how many due requests, and since when. Counts at most
 * `counted` of the direct requests of each class, and no lines before they are dispatched: of those only the oldest is read. So
 * it costs the same however many wait.
 */
export const readWaits =
  (db: Queryable) =>
  async (now: Date, counted: number): Promise<Wait[]> => {
    const due = Prisma.sql`country_code = states.code AND answer IS NULL AND NOT test
      AND due_at <= ${now}::timestamptz AND id >= ${recentId(now)}::uuid`;
    const direct = (state: 'waiting' | 'pending') => Prisma.sql`
      SELECT due_at FROM request WHERE ${due} AND origin = 'direct' AND state = ${Prisma.raw(`'${state}'`)}
      ORDER BY due_at LIMIT ${counted}::int`;
    const dispatched = (origin: 'batch' | 'watch') => Prisma.sql`
      SELECT due_at FROM request WHERE ${due} AND origin = ${Prisma.raw(`'${origin}'`)} AND state = 'pending' AND fed`;
    return query(db, WAIT)`
      SELECT states.code AS "memberState", waits.class, waits.dispatched, waits.depth, waits.oldest AS "oldestDueAt"
      FROM unnest(${[...MEMBER_STATES]}::text[]) AS states(code) CROSS JOIN LATERAL (
        SELECT 'interactive' AS class, true AS dispatched, count(*)::int AS depth, min(due_at) AS oldest
        FROM (${direct('waiting')}) AS found
        UNION ALL SELECT 'background', true, count(*)::int, min(due_at) FROM (${direct('pending')}) AS found
        UNION ALL SELECT 'batch', true, count(*)::int, min(due_at) FROM (${dispatched('batch')}) AS found
        UNION ALL SELECT 'watch', true, count(*)::int, min(due_at) FROM (${dispatched('watch')}) AS found
        UNION ALL SELECT 'batch', false, 0, (
          SELECT due_at FROM request WHERE ${due} AND origin = 'batch' AND state = 'pending' AND NOT fed
          ORDER BY due_at LIMIT 1)
      ) AS waits WHERE waits.oldest IS NOT NULL`;
  };
