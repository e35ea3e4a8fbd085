import type { AccountChange } from '@vat/domain';
import type { Queryable } from './connect-database.js';
import { query } from './query.js';
import { DAY_MS, idAt, recentId } from './uuid-bounds.js';
import { ACCOUNT_CHANGE, ACCOUNT_CHANGE_LIST } from './watch/watches.js';

/** Live checks of one UTC day (`YYYY-MM-DD`). */
type DayCount = { date: string; valid: number; invalid: number; malformed: number };

/** The summary of an account on the dashboard's first page. */
export type Overview = {
  /** One entry per day, oldest first, today last; days without checks are zeros. */
  days: DayCount[];
  /** Newest first. */
  changes: AccountChange[];
  failedDeliveries: number;
  activeBatches: number;
  pendingRequests: number;
};

/** The range of the overview: days of checks, number of changes, days of failed deliveries. */
type OverviewSpan = { days: number; changes: number; failuresDays: number };

/**
 * Reads the overview of the dashboard from indexes. The counts per day are updated when checks are recorded, so that the
 * overview of an account with a million checks costs as much as that of a new one.
 */
export const readOverview =
  (db: Queryable, span: OverviewSpan) =>
  async (accountId: string, now: Date): Promise<Overview> => {
    const today = now.toISOString().slice(0, 10);
    const failedSince = new Date(now.getTime() - span.failuresDays * DAY_MS);
    const [days, changes, [counts]] = await Promise.all([
      query(db, { date: 'text', valid: 'int4', invalid: 'int4', malformed: 'int4' })`
        SELECT to_char(s.day, 'YYYY-MM-DD') AS date, COALESCE(d.valid, 0) AS valid, COALESCE(d.invalid, 0) AS invalid,
          COALESCE(d.malformed, 0) AS malformed
        FROM generate_series(${today}::date - ${span.days - 1}::int, ${today}::date, interval '1 day') AS s(day)
        LEFT JOIN check_day d ON d.account_id = ${accountId}::uuid AND d.day = s.day::date
        ORDER BY s.day`,
      query(db, ACCOUNT_CHANGE)`
        SELECT ${ACCOUNT_CHANGE_LIST}
        FROM event e CROSS JOIN LATERAL (
          -- The LIMIT makes Postgres read the events in their order, and end with the page.
          SELECT id, watch_id, check_id, kind, before, after, changed_at FROM watch_change WHERE id = e.subject_id LIMIT 1
        ) AS c JOIN watch w ON w.id = c.watch_id
        WHERE e.account_id = ${accountId}::uuid AND e.type = 'watch.changed'
        ORDER BY e.id DESC LIMIT ${span.changes}::int`,
      query(db, { failed: 'int4', batches: 'int4', pending: 'int4' })`
        SELECT
          (SELECT count(*)::int FROM delivery WHERE account_id = ${accountId}::uuid AND state = 'failed'
            AND created_at >= ${failedSince}::timestamptz
            AND id >= ${idAt(new Date(failedSince.getTime() - DAY_MS))}::uuid) AS failed,
          (SELECT count(*)::int FROM batch WHERE account_id = ${accountId}::uuid AND state <> 'completed') AS batches,
          (SELECT count(*)::int FROM request WHERE account_id = ${accountId}::uuid AND state = 'pending'
            AND accepted_at IS NOT NULL AND id >= ${recentId(now)}::uuid) AS pending`,
    ]);
    return {
      days,
      changes: changes as AccountChange[],
      failedDeliveries: counts?.failed ?? 0,
      activeBatches: counts?.batches ?? 0,
      pendingRequests: counts?.pending ?? 0,
    };
  };
