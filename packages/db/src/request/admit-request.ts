import type { AcceptRequest, Admission, AdmissionResult, AdmitRequest } from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import { releaseUnits } from '../account/usage.js';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindIdempotencyKey } from '../idempotency-keys.js';
import { query } from '../query.js';
import { transact } from '../transaction.js';

/** Checks the number of pending requests, reserves a unit and inserts the request, in one statement. */
const reserveAndInsert = async (db: Queryable, admission: Admission): Promise<AdmissionResult> => {
  const { request, quota, maxPending } = admission;
  const [row] = await query(db, { pending: 'int4', reserved: 'int4', admitted: 'int4' })`
    WITH pend AS (
      SELECT count(*)::int AS n FROM request WHERE account_id = ${request.accountId}::uuid AND state = 'pending' AND origin = 'direct'
    ), reserved AS (
      INSERT INTO usage (account_id, period, used, reserved)
      SELECT ${request.accountId}::uuid, ${quota?.period ?? null}::text, 0, 1 FROM pend
      WHERE pend.n < ${maxPending}::int AND ${quota?.limit ?? 0}::int > 0
      ON CONFLICT (account_id, period) DO UPDATE SET reserved = usage.reserved + 1
      WHERE usage.used + usage.reserved < ${quota?.limit ?? 0}::int
      RETURNING 1
    ), admitted AS (
      INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, requester, reference,
        trader, entries, created_at, window_ends_at, due_at, quota_period)
      SELECT ${request.id}::uuid, ${request.accountId}::uuid, ${request.test}, 'waiting', ${request.input},
        ${request.memberState}, ${request.national}, ${request.vatNumber}, ${request.requester}, ${request.reference},
        ${request.trader === null ? null : JSON.stringify(request.trader)}::jsonb,
        ${JSON.stringify(request.entries)}::jsonb, ${request.createdAt}::timestamptz,
        ${request.windowEndsAt}::timestamptz, ${request.createdAt}::timestamptz, ${quota?.period ?? null}::text
      FROM pend
      WHERE pend.n < ${maxPending}::int AND (${quota === null} OR EXISTS (SELECT 1 FROM reserved))
      RETURNING 1
    )
    SELECT (SELECT n FROM pend) AS pending, (SELECT count(*)::int FROM reserved) AS reserved,
      (SELECT count(*)::int FROM admitted) AS admitted`;
  if (row?.admitted === 1) return { kind: 'admitted' };
  if (row && row.pending >= maxPending) return { kind: 'too_many_pending', pending: row.pending };
  return { kind: 'quota_exceeded' };
};

/**
 * Admits a request: binds its Idempotency-Key, checks for TOO_MANY_PENDING, reserves a unit and inserts the row, or changes
 * nothing. Without a key this is one statement, since it runs for every direct check.
 */
export const admitRequest =
  (db: Database): AdmitRequest =>
  async (admission) => {
    const { idempotency, request } = admission;
    if (idempotency === null) return reserveAndInsert(db, admission);
    return transact<AdmissionResult>(db, async (tx, refuse) => {
      const { accountId, id: requestId, createdAt: now } = request;
      if (!(await bindIdempotencyKey(tx)({ ...idempotency, accountId, requestId, now })))
        return refuse({ kind: 'key_taken' });
      const result = await reserveAndInsert(tx, admission);
      return result.kind === 'admitted' ? result : refuse(result);
    });
  };

/**
 * Turns a waiting request into a pending one, for a 202 response, unless the account already has `maxPending`; then the
 * request is withdrawn and its unit released. The row of the account is locked first, so that concurrent calls cannot exceed
 * the limit. A request whose answer has arrived is not accepted, unless `evenAnswered`, which is for an answer whose
 * recording takes too long.
 */
export const acceptRequest =
  (db: Database): AcceptRequest =>
  ({ id, accountId, now, giveUpAt, maxPending, evenAnswered }) =>
    db.$transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const [count] = await query(tx, { n: 'int4' })`
        SELECT count(*)::int AS n FROM request WHERE account_id = ${accountId}::uuid AND state = 'pending' AND origin = 'direct' AND id <> ${id}::uuid`;
      const pending = count?.n ?? 0;
      if (pending >= maxPending) {
        const withdrawn = await tx.$executeRaw`
          WITH gone AS (
            UPDATE request SET state = 'withdrawn', reason = 'TOO_MANY_PENDING', ended_at = ${now}::timestamptz
            WHERE id = ${id}::uuid AND state = 'waiting' AND (answer IS NULL OR ${evenAnswered})
            RETURNING id, account_id, quota_period
          ), released AS (
            UPDATE usage u SET ${releaseUnits(Prisma.sql`1`)} FROM gone
            WHERE u.account_id = gone.account_id AND u.period = gone.quota_period
          ), unbound AS (
            DELETE FROM idempotency_key k USING gone WHERE k.request_id = gone.id
          )
          SELECT 1 FROM gone`;
        if (withdrawn > 0) return { kind: 'too_many_pending' as const, pending };
      }
      // A pending request without accepted_at (its first caller was lost) is accepted regardless of the limit, since it already counts.
      const [accepted] = await query(tx, { giveUpAt: 'timestamptz!' })`
        UPDATE request SET state = 'pending', accepted_at = ${now}::timestamptz,
          give_up_at = COALESCE(give_up_at, ${giveUpAt}::timestamptz), due_at = LEAST(due_at, ${giveUpAt}::timestamptz)
        WHERE id = ${id}::uuid AND ((state = 'pending' AND accepted_at IS NULL AND origin = 'direct')
          OR (state = 'waiting' AND ${pending < maxPending} AND (answer IS NULL OR ${evenAnswered})))
        RETURNING give_up_at AS "giveUpAt"`;
      return accepted ? { kind: 'accepted' as const, ...accepted } : { kind: 'lost_race' as const };
    });
