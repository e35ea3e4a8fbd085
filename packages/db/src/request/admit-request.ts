import type { Admission, AdmissionResult, AdmitRequest } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { bindIdempotencyKey } from '../idempotency-keys.js';
import { query } from '../query.js';
import { transact } from '../transaction.js';
import { recentId, timeOfId } from '../uuid-bounds.js';

/** Checks the number of pending requests, reserves a unit and inserts the request, in one statement. */
const reserveAndInsert = async (db: Queryable, admission: Admission): Promise<AdmissionResult> => {
  const { request, quota, maxPending } = admission;
  const [row] = await query(db, { pending: 'int4', reserved: 'int4', admitted: 'int4' })`
    WITH pend AS (
      SELECT count(*)::int AS n FROM request
      WHERE account_id = ${request.accountId}::uuid AND state = 'pending' AND origin = 'direct'
        AND id >= ${recentId(timeOfId(request.id))}::uuid
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
