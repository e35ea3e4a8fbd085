import {
  type Backlog,
  type BacklogLimits,
  type MemberState,
  type RemainingLines,
  TYPICAL_DURATIONS_MS,
  type UsualHour,
  usualPeriod,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { query, typed } from '../query.js';
import { recentId } from '../uuid-bounds.js';

/**
 * The lookups of each member state by hour of the day (UTC) and kind of day, over {@link usualPeriod}. Durations are as exact as
 * their buckets.
 */
export const readUsualHours =
  (db: Queryable) =>
  async (now: Date): Promise<UsualHour[]> => {
    const { from, to } = usualPeriod(now);
    return query(db, {
      memberState: typed<MemberState>('text'),
      hour: 'int4',
      weekend: 'bool',
      answered: 'int4',
      busyMs: 'int4',
    })`
      SELECT h.member_state AS "memberState", extract(hour FROM h.hour AT TIME ZONE 'UTC')::int AS hour,
        extract(isodow FROM h.hour AT TIME ZONE 'UTC') > 5 AS weekend, sum(h.answered)::int AS answered,
        sum(busy.ms)::int AS "busyMs"
      FROM upstream_hour h CROSS JOIN LATERAL (
        SELECT sum(x.n * x.ms) AS ms FROM unnest(h.buckets, ${[...TYPICAL_DURATIONS_MS]}::float8[]) AS x(n, ms)
      ) AS busy
      WHERE h.hour >= ${from}::timestamptz AND h.hour < ${to}::timestamptz
      GROUP BY 1, 2, 3`;
  };

/**
 * What the batches of accounts wait for, by member state and account, without lines that have a job. Reads index entries: for
 * each member state those of the first accounts, up to a number for each.
 */
export const readBacklog =
  (db: Queryable) =>
  async (now: Date, memberStates: readonly MemberState[], { accounts, lines }: BacklogLimits): Promise<Backlog[]> => {
    // Older lines have reached their deadline.
    const recent = recentId(now);
    const waits = (code: Prisma.Sql) =>
      Prisma.sql`q.country_code = ${code} AND q.state = 'pending' AND NOT q.fed AND q.answer IS NULL
        AND q.id >= ${recent}::uuid`;
    const own = Prisma.sql`account.code`;
    return query(db, { memberState: typed<MemberState>('text'), accountId: 'uuid', requests: 'int4' })`
      WITH RECURSIVE account(code, id, n) AS (
        SELECT s.code, (SELECT q.account_id FROM request q WHERE ${waits(Prisma.sql`s.code`)}
          ORDER BY q.account_id LIMIT 1), 1
        FROM unnest(${[...memberStates]}::text[]) AS s(code)
        UNION ALL
        SELECT account.code, (SELECT q.account_id FROM request q WHERE ${waits(own)} AND q.account_id > account.id
          ORDER BY q.account_id LIMIT 1), account.n + 1
        FROM account WHERE account.id IS NOT NULL AND account.n < ${accounts}::int
      )
      SELECT account.code AS "memberState", account.id AS "accountId", (
        SELECT count(*) FROM (
          SELECT FROM request q WHERE ${waits(own)} AND q.account_id = account.id LIMIT ${lines}::int
        ) AS first
      )::int AS requests
      FROM account WHERE account.id IS NOT NULL`;
  };

/** What the batches of an account wait for that are not completed, the oldest first: at most five, of ten thousand lines each. */
export const readRemaining =
  (db: Queryable) =>
  async (accountId: string): Promise<RemainingLines[]> =>
    query(db, { batchId: 'uuid', memberState: typed<MemberState>('text'), requests: 'int4' })`
      SELECT waiting.batch_id AS "batchId", waiting.code AS "memberState", count(*)::int AS requests
      FROM (
        SELECT DISTINCT l.batch_id, l.request_id, left(l.vat_number, 2) AS code FROM batch_line l
        WHERE l.status = 'queued' AND l.vat_number IS NOT NULL AND l.batch_id IN (
          SELECT b.id FROM batch b WHERE b.account_id = ${accountId}::uuid AND b.state <> 'completed'
        )
      ) AS waiting
      GROUP BY 1, 2 ORDER BY 1, 2`;
