import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { NIL } from '../uuid-bounds.js';

/** A month whose counters are not what the rows behind them say. */
export type UsageDifference = {
  accountId: string;
  period: string;
  used: number;
  /** Rows of the ledger. */
  consumed: number;
  reserved: number;
  /** Live requests that hold a unit. */
  held: number;
  /** Units that were given back although the counter held none. */
  shortfall: number;
};

/** Accounts a statement looks at, so that none runs long. */
const SLICE = 200;

type Row = { account_id: string; used: number; consumed: number; reserved: number; held: number; shortfall: number };

/**
 * Recomputes the counters of a month from what they count and returns where the two differ, or once did, at most `limit` accounts by id. An
 * account is judged in one statement, so in one snapshot: work that goes on meanwhile is in both or in neither. Requests
 * and the ledger are kept for ten years: what lives, and the month, are found by the indexes that other work needs anyway.
 */
export const auditUsage =
  (db: Queryable) =>
  async (period: string, limit: number): Promise<UsageDifference[]> => {
    const differences: UsageDifference[] = [];
    for (let after = NIL; differences.length < limit; ) {
      const accounts = await db.$queryRaw<{ id: string }[]>`
        SELECT id FROM account WHERE id > ${after}::uuid ORDER BY id LIMIT ${SLICE}::int`;
      const last = accounts.at(-1);
      if (!last) break;
      // Live requests in three parts, each the whole of a partial index. A waiting one is always fed.
      const rows = await db.$queryRaw<Row[]>`
        WITH live AS (
          SELECT account_id, quota_period FROM request WHERE state IN ('waiting', 'pending') AND fed
          UNION ALL
          SELECT account_id, quota_period FROM request WHERE state = 'pending' AND NOT fed AND answer IS NULL
          UNION ALL
          SELECT account_id, quota_period FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL
        ), held AS (
          SELECT account_id, count(*)::int AS n FROM live WHERE quota_period = ${period} GROUP BY account_id
        )
        SELECT a.id AS account_id, COALESCE(u.used, 0) AS used, c.n AS consumed, COALESCE(u.reserved, 0) AS reserved,
          COALESCE(h.n, 0) AS held, COALESCE(u.shortfall, 0) AS shortfall
        FROM unnest(${accounts.map(({ id }) => id)}::uuid[]) AS a(id)
        LEFT JOIN usage u ON u.account_id = a.id AND u.period = ${period}
        CROSS JOIN LATERAL (
          SELECT count(*)::int AS n FROM usage_entry WHERE account_id = a.id AND period = ${period}
        ) c
        LEFT JOIN held h ON h.account_id = a.id
        WHERE COALESCE(u.used, 0) <> c.n OR COALESCE(u.reserved, 0) <> COALESCE(h.n, 0) OR u.shortfall > 0
        ORDER BY a.id`;
      for (const { account_id: accountId, ...counts } of rows) differences.push({ accountId, period, ...counts });
      after = last.id;
    }
    return differences.slice(0, limit);
  };

/**
 * What an UPDATE of `usage` u sets to give `units` back. A counter that was too low stays at zero instead of failing the
 * statement, which would be tried for ever; what was missing is noted beside it, for the audit to tell.
 */
export const releaseUnits = (units: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`reserved = GREATEST(u.reserved - ${units}, 0), shortfall = u.shortfall + GREATEST(${units} - u.reserved, 0)`;

/**
 * Reserves as many of `wanted` units as the quota has left, and returns how many. Inside a transaction: the account's usage
 * is locked from here to its end.
 */
export const reserveUnits =
  (tx: Queryable) =>
  async (ask: { accountId: string; period: string; limit: number; wanted: number }): Promise<number> => {
    const { accountId, period, limit, wanted } = ask;
    if (wanted === 0) return 0;
    await tx.$executeRaw`
      INSERT INTO usage (account_id, period) VALUES (${accountId}::uuid, ${period}) ON CONFLICT DO NOTHING`;
    const [usage] = await tx.$queryRaw<{ taken: number }[]>`
      SELECT used + reserved AS taken FROM usage WHERE account_id = ${accountId}::uuid AND period = ${period} FOR UPDATE`;
    const granted = Math.min(wanted, Math.max(0, limit - (usage?.taken ?? 0)));
    if (granted > 0)
      await tx.$executeRaw`
        UPDATE usage SET reserved = reserved + ${granted}::int
        WHERE account_id = ${accountId}::uuid AND period = ${period}`;
    return granted;
  };
