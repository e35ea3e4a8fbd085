import type { RecordedChange } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Live checks of one UTC day (`YYYY-MM-DD`). */
export type DayCount = { date: string; valid: number; invalid: number; malformed: number };

/** A change and the watch that saw it. */
export type AccountChange = RecordedChange & { watchId: string; vatNumber: string; label: string | null };

/** How an account is doing. */
export type Overview = {
  /** One entry a day, the oldest first, the last one is today; days without checks are zeros. */
  days: DayCount[];
  /** The latest first. */
  changes: AccountChange[];
  failedDeliveries: number;
  activeBatches: number;
  pendingRequests: number;
};

/** How far back it looks: days of checks, changes, and days of failed deliveries. */
export type OverviewSpan = { days: number; changes: number; failuresDays: number };

const DAY_MS = 86_400_000;

/**
 * Reads what the dashboard begins with, by index entries alone: the days are counted as checks are recorded, so that an
 * account with a million checks costs what a new one does.
 */
export const readOverview =
  (db: Queryable, span: OverviewSpan) =>
  async (accountId: string, now: Date): Promise<Overview> => {
    const today = now.toISOString().slice(0, 10);
    const failedSince = new Date(now.getTime() - span.failuresDays * DAY_MS);
    const [days, changes, [figures]] = await Promise.all([
      db.$queryRaw<DayCount[]>`
        SELECT to_char(s.day, 'YYYY-MM-DD') AS date, COALESCE(d.valid, 0) AS valid, COALESCE(d.invalid, 0) AS invalid,
          COALESCE(d.malformed, 0) AS malformed
        FROM generate_series(${today}::date - ${span.days - 1}::int, ${today}::date, interval '1 day') AS s(day)
        LEFT JOIN check_day d ON d.account_id = ${accountId}::uuid AND d.day = s.day::date
        ORDER BY s.day`,
      db.$queryRaw<AccountChange[]>`
        SELECT c.id, c.kind, c.before, c.after, c.check_id AS "checkId", c.changed_at AS "changedAt", w.id AS "watchId",
          w.vat_number AS "vatNumber", w.label
        FROM event e JOIN watch_change c ON c.id = e.subject_id JOIN watch w ON w.id = c.watch_id
        WHERE e.account_id = ${accountId}::uuid AND e.type = 'watch.changed'
        ORDER BY e.id DESC LIMIT ${span.changes}::int`,
      db.$queryRaw<{ failed: number; batches: number; pending: number }[]>`
        SELECT
          (SELECT count(*)::int FROM delivery WHERE account_id = ${accountId}::uuid AND state = 'failed'
            AND created_at >= ${failedSince}::timestamptz) AS failed,
          (SELECT count(*)::int FROM batch WHERE account_id = ${accountId}::uuid AND state <> 'completed') AS batches,
          (SELECT count(*)::int FROM request WHERE account_id = ${accountId}::uuid AND state = 'pending'
            AND accepted_at IS NOT NULL) AS pending`,
    ]);
    return {
      days,
      changes,
      failedDeliveries: figures?.failed ?? 0,
      activeBatches: figures?.batches ?? 0,
      pendingRequests: figures?.pending ?? 0,
    };
  };
