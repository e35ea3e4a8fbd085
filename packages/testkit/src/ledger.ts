import type { World } from './start-world.js';

/** The totals of a world: requests and their outcomes, events and charged units. */
type Ledger = {
  requests: number;
  /** Requests that have not ended. */
  open: number;
  completed: number;
  abandoned: number;
  withdrawn: number;
  /** Requests that were answered 202. */
  accepted: number;
  checks: number;
  events: number;
  /** Requests that were answered 202 and ended without exactly one event. */
  acceptedWithoutOneEvent: number;
  /** Events of requests that were not answered 202. */
  needlessEvents: number;
  used: number;
  reserved: number;
  /** Live checks with an upstream verdict that lack their unit, and units without such a check. */
  unchargedChecks: number;
  /** Attempts of all requests: lookups whose outcome was recorded. */
  attempts: number;
};

/** Reads the ledger of the whole world, or of the account with a UUID. */
export const readLedger = async (world: Pick<World, 'sql'>, accountId: string | null = null): Promise<Ledger> => {
  const [ledger] = await world.sql<Ledger>(
    `
    SELECT count(*)::int AS requests,
      count(*) FILTER (WHERE state IN ('waiting', 'pending'))::int AS open,
      count(*) FILTER (WHERE state = 'completed')::int AS completed,
      count(*) FILTER (WHERE state = 'abandoned')::int AS abandoned,
      count(*) FILTER (WHERE state = 'withdrawn')::int AS withdrawn,
      count(accepted_at)::int AS accepted,
      (SELECT count(*)::int FROM "check" WHERE account_id = COALESCE($1, account_id)) AS checks,
      (SELECT count(*)::int FROM event WHERE account_id = COALESCE($1, account_id)) AS events,
      count(*) FILTER (WHERE accepted_at IS NOT NULL AND state IN ('completed', 'abandoned') AND event_count <> 1)::int
        AS "acceptedWithoutOneEvent",
      count(*) FILTER (WHERE accepted_at IS NULL AND event_count > 0)::int AS "needlessEvents",
      (SELECT COALESCE(sum(used), 0)::int FROM usage WHERE account_id = COALESCE($1, account_id)) AS used,
      (SELECT COALESCE(sum(reserved), 0)::int FROM usage WHERE account_id = COALESCE($1, account_id)) AS reserved,
      (SELECT count(*)::int FROM "check" c FULL JOIN usage_entry u ON u.check_id = c.id
        WHERE NOT COALESCE(c.test, false) AND (c.id IS NULL OR u.check_id IS NULL)
          AND COALESCE(c.account_id, u.account_id) = COALESCE($1, c.account_id, u.account_id)) AS "unchargedChecks",
      COALESCE(sum(attempts), 0)::int AS attempts
    FROM (SELECT r.*, COALESCE(e.n, 0) AS event_count FROM request r
      LEFT JOIN (SELECT subject_id, count(*) AS n FROM event GROUP BY subject_id) AS e ON e.subject_id = r.id
      WHERE r.account_id = COALESCE($1, r.account_id)) AS r`,
    [accountId],
  );
  if (!ledger) throw new Error('the ledger query returned no row');
  return ledger;
};

/** The expected ledger once all requests have ended with a verdict: one check and one unit each, and one event after a 202. */
export const balancedLedger = (ledger: Ledger): Partial<Ledger> => ({
  open: 0,
  completed: ledger.requests,
  checks: ledger.requests,
  used: ledger.requests,
  reserved: 0,
  events: ledger.accepted,
  acceptedWithoutOneEvent: 0,
  needlessEvents: 0,
  unchargedChecks: 0,
});
