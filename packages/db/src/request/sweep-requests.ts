import {
  type AbandonReason,
  type EndedRequest,
  type MemberState,
  NEVER_ASKED_AFTER_MS,
  type OverdueCursor,
  type OverduePage,
  type OverdueRequest,
  type ReleaseOrphans,
  type RequestOrigin,
} from '@vat/domain';
import { releaseUnitsOfGone } from '../account/usage.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, typed } from '../query.js';
import { NIL } from '../uuid-bounds.js';
import { pendingOfAccount } from './requests.js';

const OVERDUE = columns({
  ...all('bool', 'test', 'answered'),
  memberState: typed<MemberState>('text'),
  ids: 'uuid[]',
  lastDueAt: 'timestamptz',
  lastId: 'uuid',
});

/**
 * A page of the live requests due before `before`, oldest first, grouped by queue: decoding a row for each would cost more than
 * everything else that the sweep does with it.
 */
export const overdueRequests =
  (db: Queryable) =>
  async (before: Date, after: OverdueCursor | null, limit: number): Promise<OverduePage> => {
    const groups = await query(db, OVERDUE)`
      WITH page AS MATERIALIZED (
        SELECT id, test, country_code, answer IS NOT NULL AS answered, due_at FROM request
        WHERE state IN ('waiting', 'pending') AND fed AND due_at < ${before}::timestamptz
          AND (due_at, id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.id ?? NIL}::uuid)
        ORDER BY due_at, id LIMIT ${limit}::int
      ), last AS (SELECT due_at, id FROM page ORDER BY due_at DESC, id DESC LIMIT 1)
      SELECT p.test, p.country_code AS "memberState", p.answered, array_agg(p.id) AS ids, last.due_at AS "lastDueAt",
        last.id AS "lastId"
      FROM page p CROSS JOIN last GROUP BY 1, 2, 3, 5, 6`;
    const read = groups.reduce((sum, { ids }) => sum + ids.length, 0);
    const [group] = groups;
    return { groups, next: group && read === limit ? { dueAt: group.lastDueAt, id: group.lastId } : null };
  };

const LIVE = columns({
  ...all('uuid', 'id', 'accountId'),
  ...all('bool', 'test', 'pending', 'answered'),
  origin: typed<RequestOrigin>('text'),
  memberState: typed<MemberState>('text'),
  dueAt: 'timestamptz',
});

/** Those of the requests that are live and belong into a queue. */
export const findLiveRequests =
  (db: Queryable) =>
  async (ids: string[]): Promise<OverdueRequest[]> => {
    return query(db, LIVE)`
      SELECT id, account_id AS "accountId", test, origin, country_code AS "memberState", state = 'pending' AS pending, answer IS NOT NULL AS answered,
        due_at AS "dueAt"
      FROM request WHERE id = ANY(${ids}::uuid[]) AND state IN ('waiting', 'pending') AND fed`;
  };

const ENDED = columns({
  id: 'uuid',
  accountId: 'uuid',
  test: 'bool',
  reason: typed<AbandonReason>('text'),
  lastError: 'text?',
});

/** The reason of a pending request past its end, as `abandonReasonOf` of the domain. */
export const reasonToGiveUp = Prisma.sql`
  CASE WHEN attempts > 0 OR asking_since IS NOT NULL THEN 'UPSTREAM_NO_ANSWER' ELSE 'NEVER_ASKED' END`;

/** The give-up time of a test key's request before which it ends without a lookup. */
const neverAskedBefore = (now: Date): Date => new Date(now.getTime() - NEVER_ASKED_AFTER_MS);

/** Pending requests past their deadline, or of a disabled account; for those of batches see `endLostLines`. */
export const requestsToAbandon =
  (db: Queryable) =>
  async (now: Date, limit: number): Promise<EndedRequest[]> => {
    return query(db, ENDED)`
      (SELECT r.id, r.account_id AS "accountId", r.test, ${reasonToGiveUp} AS reason, r.last_error AS "lastError"
        FROM request r
        WHERE r.state = 'pending' AND r.origin <> 'batch' AND r.give_up_at < ${now}::timestamptz AND r.answer IS NULL
          AND (NOT r.test OR r.attempts > 0 OR r.asking_since IS NOT NULL
            OR r.give_up_at < ${neverAskedBefore(now)}::timestamptz)
        LIMIT ${limit}::int)
      UNION ALL
      (SELECT r.id, r.account_id, r.test, 'ACCOUNT_DISABLED', r.last_error FROM account a
        JOIN request r ON r.account_id = a.id
        WHERE a.disabled_at IS NOT NULL AND r.state = 'pending' AND r.fed AND r.origin <> 'batch' AND r.answer IS NULL
        LIMIT ${limit}::int)`;
  };

/** Requests that lost their caller and end in one statement. */
const ORPHANS = 500;

/**
 * Ends waiting requests whose caller was lost with its API process: they are withdrawn and their units released. A request
 * with a bound Idempotency-Key becomes pending instead, so that a repeated call gets its result, unless its account already has
 * `maxPending`; then its key is released, too. The accounts are locked first, as in `acceptRequest`; those that someone else has
 * locked are left to the next sweep. `createdBefore` is earlier than any caller waits. `fed` is true for all of them; the index
 * needs it.
 */
export const releaseOrphans =
  (db: Database): ReleaseOrphans =>
  async ({ createdBefore, now, giveUpAt, maxPending }) => {
    const isLost = Prisma.sql`
      r.state = 'waiting' AND r.fed AND r.answer IS NULL AND r.created_at < ${createdBefore}::timestamptz`;
    return db.$transaction(async (tx) => {
      const locked = await query(tx, { id: 'uuid' })`
        SELECT id FROM account WHERE id = ANY(ARRAY(
          SELECT r.account_id FROM request r WHERE ${isLost} ORDER BY r.due_at LIMIT ${ORPHANS}::int
        )) FOR NO KEY UPDATE SKIP LOCKED`;
      const ids = locked.map(({ id }) => id);
      const [row] = await query(tx, { n: 'int4' })`
        WITH lost AS (
          -- Not EXISTS, for which Postgres may collect all keys into a hash table.
          SELECT r.id, r.account_id,
            (SELECT true FROM idempotency_key k WHERE k.request_id = r.id LIMIT 1) IS NOT NULL AS keyed
          FROM request r WHERE ${isLost} AND r.account_id = ANY(${ids}::uuid[])
          ORDER BY r.due_at LIMIT ${ORPHANS}::int FOR UPDATE OF r SKIP LOCKED
        ), counted AS (
          SELECT a.account_id, ${pendingOfAccount(Prisma.sql`a.account_id`, now)} AS pending
          FROM (SELECT DISTINCT account_id FROM lost WHERE keyed) a
        ), ranked AS (
          SELECT l.id, c.pending + row_number() OVER (PARTITION BY l.account_id ORDER BY l.id) > ${maxPending}::int AS excess
          FROM lost l JOIN counted c ON c.account_id = l.account_id WHERE l.keyed
        ), gone AS (
          UPDATE request r SET state = 'withdrawn', ended_at = ${now}::timestamptz,
            reason = CASE WHEN r.id = ANY(ARRAY(SELECT id FROM ranked)) THEN 'TOO_MANY_PENDING' ELSE 'CALLER_LOST' END
          WHERE r.id = ANY(ARRAY(SELECT id FROM lost WHERE NOT keyed UNION ALL SELECT id FROM ranked WHERE excess))
          RETURNING r.id, r.account_id, r.quota_period
        ), continued AS (
          UPDATE request r SET state = 'pending',
            give_up_at = COALESCE(r.give_up_at, CASE WHEN r.test THEN ${giveUpAt.test}::timestamptz ELSE ${giveUpAt.live}::timestamptz END)
          WHERE r.id = ANY(ARRAY(SELECT id FROM ranked WHERE NOT excess)) RETURNING 1
        ), ${releaseUnitsOfGone()}, unbound AS (
          DELETE FROM idempotency_key WHERE request_id = ANY(ARRAY(SELECT id FROM gone))
        )
        SELECT ((SELECT count(*) FROM gone) + (SELECT count(*) FROM continued))::int AS n`;
      return row?.n ?? 0;
    });
  };
