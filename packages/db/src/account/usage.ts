import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, type RowOf } from '../query.js';
import { idAt, NIL } from '../uuid-bounds.js';

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

/** Accounts, and usage entries, per statement, so that each statement is short. */
const CHUNK = { accounts: 1_000, entries: 20_000 };
/** Of the transaction: ten million entries take some twenty seconds. The time-out of the pool applies to each statement. */
const AUDIT_TIMEOUT_MS = 600_000;
/** The clocks of two processes differ by less. */
const MAX_CLOCK_SKEW_MS = 3_600_000;

const COUNTERS = columns({ accountId: 'uuid', ...all('int4', 'used', 'reserved', 'shortfall') });

type Counts = Map<string, number>;

/** The usage entries of a month by account, in slices of the order of ids. */
const countEntries = async (tx: Queryable, period: string): Promise<Counts> => {
  const counts: Counts = new Map();
  // The id of a check is never older than its month.
  let after: string | null = idAt(new Date(Date.parse(`${period}-01T00:00:00Z`) - MAX_CLOCK_SKEW_MS));
  while (after !== null) {
    const rows: { accountId: string; n: number; size: number; last: string }[] = await query(tx, {
      ...all('uuid', 'accountId', 'last'),
      ...all('int4', 'n', 'size'),
    })`
      WITH slice AS MATERIALIZED (
        SELECT check_id, account_id, period FROM usage_entry WHERE check_id > ${after}::uuid
        ORDER BY check_id LIMIT ${CHUNK.entries}::int
      )
      SELECT account_id AS "accountId", (count(*) FILTER (WHERE period = ${period}))::int AS n,
        (SELECT count(*)::int FROM slice) AS size, (SELECT check_id FROM slice ORDER BY check_id DESC LIMIT 1) AS last
      FROM slice GROUP BY account_id`;
    for (const { accountId, n } of rows) counts.set(accountId, (counts.get(accountId) ?? 0) + n);
    const [slice] = rows;
    after = slice?.size === CHUNK.entries ? slice.last : null;
  }
  return counts;
};

/** The live requests with a reserved unit of a month by account. */
const countHeld = async (tx: Queryable, period: string): Promise<Counts> => {
  // In three parts, each of which is a complete partial index. A waiting request is always dispatched.
  const rows = await query(tx, { accountId: 'uuid', n: 'int4' })`
    SELECT account_id AS "accountId", count(*)::int AS n FROM (
      SELECT account_id, quota_period FROM request WHERE state IN ('waiting', 'pending') AND fed
      UNION ALL
      SELECT account_id, quota_period FROM request WHERE state = 'pending' AND NOT fed AND answer IS NULL
      UNION ALL
      SELECT account_id, quota_period FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL
    ) AS live
    WHERE quota_period = ${period} GROUP BY account_id`;
  return new Map(rows.map(({ accountId, n }) => [accountId, n]));
};

/**
 * Recomputes the counters of a month and returns the differences, present or past (`shortfall`), of at most `limit` accounts
 * ordered by id. All statements read one snapshot, so that checks which are recorded meanwhile make no difference; each is
 * short. Usage entries are read from the beginning of the month on: the month is the current one or a recent one.
 */
export const auditUsage =
  (db: Database) =>
  (period: string, limit: number): Promise<UsageDifference[]> =>
    db.$transaction(
      async (tx) => {
        const [entries, live] = [await countEntries(tx, period), await countHeld(tx, period)];
        const differences: UsageDifference[] = [];
        for (let after: string | undefined = NIL; after !== undefined && differences.length < limit; ) {
          const rows: RowOf<typeof COUNTERS>[] = await query(tx, COUNTERS)`
            SELECT a.id AS "accountId", COALESCE(u.used, 0) AS used, COALESCE(u.reserved, 0) AS reserved,
              COALESCE(u.shortfall, 0) AS shortfall
            FROM (SELECT id FROM account WHERE id > ${after}::uuid ORDER BY id LIMIT ${CHUNK.accounts}::int) AS a
            LEFT JOIN usage u ON u.account_id = a.id AND u.period = ${period}
            ORDER BY a.id`;
          for (const { accountId, used, reserved, shortfall } of rows) {
            const [consumed, held] = [entries.get(accountId) ?? 0, live.get(accountId) ?? 0];
            if (used !== consumed || reserved !== held || shortfall > 0)
              differences.push({ accountId, period, used, consumed, reserved, held, shortfall });
          }
          after = rows.length === CHUNK.accounts ? rows.at(-1)?.accountId : undefined;
        }
        return differences.slice(0, limit);
      },
      { isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead, timeout: AUDIT_TIMEOUT_MS },
    );

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
 * locks the usage of the account until its end, unless no unit is left: a batch without a unit ends with an event, and events are
 * locked before usage (docs/architecture.md, Order of locks).
 */
export const reserveUnits =
  (tx: Queryable) =>
  async ({ accountId, period, limit, wanted }: UnitsToReserve): Promise<number> => {
    if (wanted === 0) return 0;
    await tx.$executeRaw`SAVEPOINT units`;
    await tx.$executeRaw`
      INSERT INTO usage (account_id, period) VALUES (${accountId}::uuid, ${period}) ON CONFLICT DO NOTHING`;
    const [usage] = await query(tx, { taken: 'int4' })`
      SELECT used + reserved AS taken FROM usage WHERE account_id = ${accountId}::uuid AND period = ${period} FOR UPDATE`;
    const granted = Math.min(wanted, Math.max(0, limit - (usage?.taken ?? 0)));
    if (granted === 0) await tx.$executeRaw`ROLLBACK TO SAVEPOINT units`;
    else
      await tx.$executeRaw`
        UPDATE usage SET reserved = reserved + ${granted}::int
        WHERE account_id = ${accountId}::uuid AND period = ${period}`;
    return granted;
  };
