import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query } from '../query.js';
import { NIL } from '../uuid-bounds.js';

/** A month whose counters differ from the rows they count. */
type UsageDifference = {
  accountId: string;
  period: string;
  used: number;
  /** Usage entries. */
  consumed: number;
  reserved: number;
  /** Live requests with a reserved unit. */
  held: number;
  /** Units that were released although the counter was zero. */
  shortfall: number;
};

/** Accounts per statement, so that each statement is short. */
const CHUNK = 200;

const COUNTERS = columns({
  accountId: 'uuid',
  ...all('int4', 'used', 'consumed', 'reserved', 'held', 'shortfall'),
});

/**
 * Recomputes the counters of a month and returns the differences, present or past (`shortfall`), of at most `limit` accounts
 * ordered by id. Each account is compared in one statement, and thus in one snapshot. Requests and usage entries are stored
 * for ten years; live requests and the entries of the month are found by indexes that exist for other queries.
 */
export const auditUsage =
  (db: Queryable) =>
  async (period: string, limit: number): Promise<UsageDifference[]> => {
    const differences: UsageDifference[] = [];
    for (let after = NIL; differences.length < limit; ) {
      const accounts = await query(db, { id: 'uuid' })`
        SELECT id FROM account WHERE id > ${after}::uuid ORDER BY id LIMIT ${CHUNK}::int`;
      const last = accounts.at(-1);
      if (!last) break;
      // Live requests in three parts, each of which is a complete partial index. A waiting request is always dispatched.
      const rows = await query(db, COUNTERS)`
        WITH live AS (
          SELECT account_id, quota_period FROM request WHERE state IN ('waiting', 'pending') AND fed
          UNION ALL
          SELECT account_id, quota_period FROM request WHERE state = 'pending' AND NOT fed AND answer IS NULL
          UNION ALL
          SELECT account_id, quota_period FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL
        ), held AS (
          SELECT account_id, count(*)::int AS n FROM live WHERE quota_period = ${period} GROUP BY account_id
        )
        SELECT a.id AS "accountId", COALESCE(u.used, 0) AS used, c.n AS consumed, COALESCE(u.reserved, 0) AS reserved,
          COALESCE(h.n, 0) AS held, COALESCE(u.shortfall, 0) AS shortfall
        FROM unnest(${accounts.map(({ id }) => id)}::uuid[]) AS a(id)
        LEFT JOIN usage u ON u.account_id = a.id AND u.period = ${period}
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS n FROM usage_entry WHERE account_id = a.id AND period = ${period}
        ) c
        LEFT JOIN held h ON h.account_id = a.id
        WHERE COALESCE(u.used, 0) <> c.n OR COALESCE(u.reserved, 0) <> COALESCE(h.n, 0) OR u.shortfall > 0
        ORDER BY a.id`;
      differences.push(...rows.map((row) => ({ ...row, period })));
      after = last.id;
    }
    return differences.slice(0, limit);
  };

/**
 * The SET clause of an UPDATE of `usage` u that releases `units`. A counter that is too low becomes zero, since a failing
 * statement would be retried without end; the missing units are recorded in `shortfall`, which the audit reports.
 */
export const releaseUnits = (units: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`reserved = GREATEST(u.reserved - ${units}, 0), shortfall = u.shortfall + GREATEST(${units} - u.reserved, 0)`;

/**
 * The CTEs `units` and `released`: release the reserved units of many requests, those that the CTE `gone` returns with
 * `account_id` and `quota_period`. Rows of usage are locked in the order of their key, which prevents deadlocks between such
 * statements.
 */
export const releaseUnitsOfGone = (): Prisma.Sql => Prisma.sql`
  units AS MATERIALIZED (
    SELECT u.account_id, u.period, held.n FROM usage u JOIN (
      SELECT account_id, quota_period, count(*)::int AS n FROM gone WHERE quota_period IS NOT NULL GROUP BY 1, 2
    ) AS held ON held.account_id = u.account_id AND held.quota_period = u.period
    ORDER BY u.account_id, u.period FOR UPDATE OF u
  ), released AS (
    UPDATE usage u SET ${releaseUnits(Prisma.sql`units.n`)} FROM units
    WHERE u.account_id = units.account_id AND u.period = units.period
  )`;

type UnitsToReserve = { accountId: string; period: string; limit: number; wanted: number };

/**
 * Reserves at most `wanted` units, as far as the quota allows, and returns their number. To be called in a transaction, which
 * locks the usage of the account until its end.
 */
export const reserveUnits =
  (tx: Queryable) =>
  async ({ accountId, period, limit, wanted }: UnitsToReserve): Promise<number> => {
    if (wanted === 0) return 0;
    await tx.$executeRaw`
      INSERT INTO usage (account_id, period) VALUES (${accountId}::uuid, ${period}) ON CONFLICT DO NOTHING`;
    const [usage] = await query(tx, { taken: 'int4' })`
      SELECT used + reserved AS taken FROM usage WHERE account_id = ${accountId}::uuid AND period = ${period} FOR UPDATE`;
    const granted = Math.min(wanted, Math.max(0, limit - (usage?.taken ?? 0)));
    if (granted > 0)
      await tx.$executeRaw`
        UPDATE usage SET reserved = reserved + ${granted}::int
        WHERE account_id = ${accountId}::uuid AND period = ${period}`;
    return granted;
  };
