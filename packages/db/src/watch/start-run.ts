import type { RunStart, StartRun } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/**
 * Starts the run of a watch that is due: reserves a unit, makes the request (pending, though nobody was answered 202: it
 * tells nobody and counts among nobody's pending requests) and notes it on the watch. Without a unit, or on a disabled
 * account, the run is put off. One statement, and once however often it is run.
 */
export const startRun =
  (db: Queryable): StartRun =>
  async ({ watchId, requestId, entries, now, giveUpAt, quota, nextCheckAt, retryAt, asIfDue }) => {
    const [row] = await db.$queryRaw<{ started: boolean; disabled: boolean }[]>`
      WITH due AS (
        SELECT w.id, w.account_id, w.input, w.country_code, w.national, w.vat_number, w.requester,
          a.disabled_at IS NOT NULL AS disabled
        FROM watch w JOIN account a ON a.id = w.account_id
        WHERE w.id = ${watchId}::uuid AND w.state = 'active' AND w.request_id IS NULL
          AND (${asIfDue} OR w.next_check_at <= ${now}::timestamptz)
        FOR UPDATE OF w SKIP LOCKED
      ), reserved AS (
        INSERT INTO usage (account_id, period, used, reserved)
        SELECT account_id, ${quota.period}, 0, 1 FROM due WHERE NOT disabled AND ${quota.limit}::int > 0
        ON CONFLICT (account_id, period) DO UPDATE SET reserved = usage.reserved + 1
        WHERE usage.used + usage.reserved < ${quota.limit}::int
        RETURNING 1
      ), asked AS (
        INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, requester,
          entries, created_at, window_ends_at, give_up_at, due_at, quota_period)
        SELECT ${requestId}::uuid, account_id, false, 'watch', true, 'pending', input, country_code, national, vat_number,
          requester, ${JSON.stringify(entries)}::jsonb, ${now}::timestamptz, ${now}::timestamptz,
          ${giveUpAt}::timestamptz, ${now}::timestamptz, ${quota.period}
        FROM due WHERE EXISTS (SELECT 1 FROM reserved)
        RETURNING id
      )
      UPDATE watch w SET request_id = (SELECT id FROM asked),
        next_check_at = CASE WHEN EXISTS (SELECT 1 FROM asked) THEN ${nextCheckAt}::timestamptz ELSE ${retryAt}::timestamptz END
      FROM due WHERE w.id = due.id
      RETURNING w.request_id IS NOT NULL AS started, due.disabled`;
    if (!row) return 'not_due' satisfies RunStart;
    if (row.started) return 'started';
    return row.disabled ? 'account_disabled' : 'quota_exceeded';
  };
