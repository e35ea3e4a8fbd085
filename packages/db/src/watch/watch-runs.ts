import type {
  DueWatch,
  FindRunningWatch,
  MemberState,
  Plan,
  RunLimits,
  RunStart,
  RunWatchDeps,
  StartRun,
  WatchFrequency,
  WatchRecord,
  WatchState,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, selectList, typed } from '../query.js';
import { recentId } from '../uuid-bounds.js';
import { endpointOf } from '../webhook/events.js';

const DUE = columns({
  ...all('uuid', 'id', 'accountId'),
  memberState: typed<MemberState>('text'),
  vatNumber: 'text',
  frequency: typed<WatchFrequency>('text'),
  plan: typed<Plan>('text'),
  monthlyQuota: 'int4?',
});

/**
 * Due watches of member states, in the order in which to start them: accounts take turns, and each account's go by due time.
 * At most as many of a member state as the limits leave, runs in progress included. Reads one index entry for each account that has watches
 * of a member state with room, and its due watches up to that room, however many wait for an outage to end.
 */
export const findDueWatches =
  (db: Queryable) =>
  (memberStates: readonly string[]) =>
  async (now: Date, limits: RunLimits): Promise<DueWatch[]> => {
    const idle = (code: Prisma.Sql) =>
      Prisma.sql`w.country_code = ${code} AND w.state = 'active' AND w.request_id IS NULL`;
    return query(db, DUE)`
      WITH RECURSIVE under_way AS MATERIALIZED (
        SELECT r.country_code AS code, r.account_id, count(*) FILTER (WHERE r.due_at <= ${now}::timestamptz)::int AS n,
          count(*)::int AS total
        FROM request r
        WHERE r.origin = 'watch' AND r.country_code = ANY(${[...memberStates]}::text[]) AND r.state = 'pending' AND r.fed
          AND r.id >= ${recentId(now)}::uuid
        GROUP BY 1, 2
      ), room AS MATERIALIZED (
        SELECT s.code, LEAST(${limits.waiting}::int - COALESCE(u.n, 0), ${limits.underWay}::int - COALESCE(u.total, 0))::int AS n
        FROM unnest(${[...memberStates]}::text[]) AS s(code) LEFT JOIN (
          SELECT code, sum(n) AS n, sum(total) AS total FROM under_way GROUP BY code
        ) AS u ON u.code = s.code
      ), watcher(code, id) AS (
        SELECT room.code, (SELECT w.account_id FROM watch w WHERE ${idle(Prisma.sql`room.code`)} ORDER BY w.account_id LIMIT 1)
        FROM room WHERE room.n > 0
        UNION ALL
        SELECT watcher.code, (SELECT w.account_id FROM watch w
          WHERE ${idle(Prisma.sql`watcher.code`)} AND w.account_id > watcher.id ORDER BY w.account_id LIMIT 1)
        FROM watcher WHERE watcher.id IS NOT NULL
      ), ranked AS (
        SELECT due.*, COALESCE(u.n, 0) + due.turn AS rank FROM watcher JOIN room ON room.code = watcher.code
        CROSS JOIN LATERAL (
          SELECT first.*, row_number() OVER (ORDER BY first.next_check_at, first.id) AS turn FROM (
            SELECT w.id, w.account_id, w.country_code, w.vat_number, w.frequency, w.next_check_at FROM watch w
            WHERE ${idle(Prisma.sql`watcher.code`)} AND w.account_id = watcher.id AND w.next_check_at <= ${now}::timestamptz
            ORDER BY w.next_check_at, w.id LIMIT room.n
          ) AS first
        ) AS due
        LEFT JOIN under_way u ON u.code = watcher.code AND u.account_id = watcher.id
      ), placed AS (
        SELECT ranked.*, row_number() OVER (PARTITION BY country_code ORDER BY rank, next_check_at, id) AS place FROM ranked
      )
      SELECT w.id, w.account_id AS "accountId", w.country_code AS "memberState", w.vat_number AS "vatNumber", w.frequency,
        a.plan, a.monthly_quota AS "monthlyQuota"
      FROM placed w JOIN room ON room.code = w.country_code AND w.place <= room.n JOIN account a ON a.id = w.account_id
      ORDER BY w.rank, w.next_check_at, w.id`;
  };

/**
 * Starts the run of a due watch: reserves a unit, inserts the request and links it to the watch. The request is pending, but
 * was not answered 202: it publishes no event and does not count as a pending request of the account. Without a unit, or on
 * a disabled account, the run is put off. One statement, idempotent.
 */
export const startRun =
  (db: Queryable): StartRun =>
  async ({ watchId, frequency, requestId, entries, now, giveUpAt, quota, nextCheckAt, retryAt, asIfDue }) => {
    const [row] = await query(db, { started: 'bool', disabled: 'bool' })`
      WITH due AS (
        SELECT w.id, w.account_id, w.input, w.country_code, w.national, w.vat_number, w.requester,
          a.disabled_at IS NOT NULL AS disabled
        FROM watch w JOIN account a ON a.id = w.account_id
        WHERE w.id = ${watchId}::uuid AND w.state = 'active' AND w.frequency = ${frequency} AND w.request_id IS NULL
          AND (${asIfDue} OR w.next_check_at <= ${now}::timestamptz)
        FOR UPDATE OF w SKIP LOCKED
      ), reserved AS (
        INSERT INTO usage (account_id, period, used, reserved)
        SELECT account_id, ${quota.period}, 0, 1 FROM due WHERE NOT disabled AND ${quota.limit}::int > 0
        ON CONFLICT (account_id, period) DO UPDATE SET reserved = usage.reserved + 1
        WHERE usage.used + usage.reserved < ${quota.limit}::int
        RETURNING 1
      ), requested AS (
        INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, requester,
          entries, created_at, window_ends_at, give_up_at, due_at, quota_period)
        SELECT ${requestId}::uuid, account_id, false, 'watch', true, 'pending', input, country_code, national, vat_number,
          requester, ${JSON.stringify(entries)}::jsonb, ${now}::timestamptz, ${now}::timestamptz,
          ${giveUpAt}::timestamptz, ${now}::timestamptz, ${quota.period}
        FROM due WHERE EXISTS (SELECT 1 FROM reserved)
        RETURNING id
      )
      UPDATE watch w SET request_id = (SELECT id FROM requested),
        missed_since = CASE WHEN EXISTS (SELECT 1 FROM requested) THEN w.missed_since
          ELSE COALESCE(w.missed_since, LEAST(w.next_check_at, ${now}::timestamptz)) END,
        next_check_at = CASE WHEN EXISTS (SELECT 1 FROM requested) THEN ${nextCheckAt}::timestamptz ELSE ${retryAt}::timestamptz END
      FROM due WHERE w.id = due.id
      RETURNING w.request_id IS NOT NULL AS started, due.disabled`;
    if (!row) return 'not_due' satisfies RunStart;
    if (row.started) return 'started';
    return row.disabled ? 'account_disabled' : 'quota_exceeded';
  };

const RUNNING = columns({
  id: 'uuid',
  vatNumber: 'text',
  ...all('text?', 'label', 'lastName', 'lastAddress'),
  lastValid: 'bool?',
  lastValidCheckId: 'uuid?',
});

/**
 * The watch whose run a request is, with its last known state; `null` when it was deleted or the run has ended. Only the end
 * of the run changes that state, so it stays as read while the run lasts.
 */
export const findRunningWatch =
  (db: Queryable): FindRunningWatch =>
  async (requestId) => {
    const [row] = await query(db, RUNNING)`
      SELECT ${selectList('w', RUNNING)} FROM watch w WHERE w.request_id = ${requestId}::uuid`;
    if (!row) return null;
    const { lastValidCheckId, lastName: name, lastAddress: address, ...watch } = row;
    return { ...watch, whenValid: lastValidCheckId === null ? null : { name, address } };
  };

/** A watch; if a run is in progress, the watch becomes due, so that another run follows. `null` when there is none. */
export const findOrFollowWatch =
  (db: Queryable): RunWatchDeps['findOrFollow'] =>
  async (id, now) => {
    const [row] = await query(db, { ...DUE, state: typed<WatchState>('text'), requestId: 'uuid?' })`
      UPDATE watch w SET next_check_at = CASE WHEN w.request_id IS NULL THEN w.next_check_at
        ELSE LEAST(w.next_check_at, ${now}::timestamptz) END
      FROM account a WHERE w.id = ${id}::uuid AND a.id = w.account_id
      RETURNING w.id, w.account_id AS "accountId", w.country_code AS "memberState", w.vat_number AS "vatNumber", w.frequency, a.plan,
        a.monthly_quota AS "monthlyQuota", w.state, w.request_id AS "requestId"`;
    return row ?? null;
  };

const record = ({ id, kind, before, after, eventId, deliveryId, body }: WatchRecord['changes'][number]) => ({
  id,
  kind,
  before,
  after,
  event_id: eventId,
  delivery_id: deliveryId,
  body,
});

/**
 * The CTEs that end a run together with its request (the CTE `done`, with `id`): they store the answer on the watch, and
 * insert each change with its event and, if the account has an endpoint, its delivery (`watch_sent`, with `id`). Nothing is
 * written when the watch was deleted or the request is not its run.
 */
export const recordWatch = ({ watchId, checkId, checkedAt, seen, changes, now }: WatchRecord): Prisma.Sql => Prisma.sql`
  watched AS (
    UPDATE watch w SET request_id = NULL, last_check_id = ${checkId}::uuid, last_checked_at = ${checkedAt}::timestamptz,
      missed_since = NULL,
      last_valid = ${seen.valid},
      last_valid_check_id = CASE WHEN ${seen.valid} THEN ${checkId}::uuid ELSE w.last_valid_check_id END,
      last_name = CASE WHEN ${seen.valid} THEN ${seen.name}::text ELSE w.last_name END,
      last_address = CASE WHEN ${seen.valid} THEN ${seen.address}::text ELSE w.last_address END
    FROM done WHERE w.id = ${watchId}::uuid AND w.request_id = done.id
    RETURNING w.id, w.account_id
  ), differs AS (
    SELECT watched.id AS watch_id, watched.account_id, c.id, c.kind, c.before, c.after, c.event_id, c.delivery_id, c.body
    FROM watched, jsonb_to_recordset(${JSON.stringify(changes.map(record))}::jsonb) AS c(id uuid, kind text, before jsonb,
      after jsonb, event_id uuid, delivery_id uuid, body text)
  ), changed AS (
    INSERT INTO watch_change (id, watch_id, kind, before, after, check_id, changed_at)
    SELECT id, watch_id, kind, before, after, ${checkId}::uuid, ${checkedAt}::timestamptz FROM differs
  ), watch_event AS (
    INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
    SELECT event_id, account_id, 'watch.changed', id, body, false, ${now}::timestamptz FROM differs
    RETURNING id, account_id
  ), watch_sent AS (
    INSERT INTO delivery (id, account_id, event_id, generation, state, created_at, next_attempt_at)
    SELECT d.delivery_id, e.account_id, e.id, h.generation, 'pending', ${now}::timestamptz, ${now}::timestamptz
    FROM watch_event e JOIN differs d ON d.event_id = e.id, ${endpointOf(Prisma.sql`e.account_id`)} AS h
    RETURNING id
  )`;

/**
 * The CTE that ends a run whose request (the CTE `gone`, with `id` and `created_at`) ended without an answer. The watch's last
 * state stays. It is due at its own moment of the day within the next 24 hours: whole days are taken from its next due time.
 */
export const releaseWatch = (now: Date): Prisma.Sql => Prisma.sql`
  unwatched AS (
    UPDATE watch w SET request_id = NULL, missed_since = COALESCE(w.missed_since, gone.created_at),
      next_check_at = w.next_check_at - interval '24 hours'
        * floor(GREATEST(0, extract(epoch FROM w.next_check_at - ${now}::timestamptz)) / 86400)
    FROM gone WHERE w.request_id = gone.id
  )`;
