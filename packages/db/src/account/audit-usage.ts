import type { Queryable } from '../connect-database.js';

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
};

/**
 * Recomputes the counters of a month from what they count and returns where the two differ, at most `limit` accounts. One
 * statement, so one snapshot: work that goes on meanwhile is in both or in neither.
 */
export const auditUsage =
  (db: Queryable) =>
  async (period: string, limit: number): Promise<UsageDifference[]> => {
    const rows = await db.$queryRaw<
      { account_id: string; used: number; consumed: number; reserved: number; held: number }[]
    >`
      WITH consumed AS (
        SELECT account_id, count(*)::int AS n FROM usage_entry WHERE period = ${period} GROUP BY account_id
      ), held AS (
        SELECT account_id, count(*)::int AS n FROM request
        WHERE state IN ('waiting', 'pending') AND quota_period = ${period} GROUP BY account_id
      )
      SELECT COALESCE(u.account_id, c.account_id) AS account_id, COALESCE(u.used, 0) AS used,
        COALESCE(c.n, 0) AS consumed, COALESCE(u.reserved, 0) AS reserved, COALESCE(h.n, 0) AS held
      FROM (SELECT * FROM usage WHERE period = ${period}) u
      FULL JOIN consumed c ON c.account_id = u.account_id
      LEFT JOIN held h ON h.account_id = COALESCE(u.account_id, c.account_id)
      WHERE COALESCE(u.used, 0) <> COALESCE(c.n, 0) OR COALESCE(u.reserved, 0) <> COALESCE(h.n, 0)
      LIMIT ${limit}::int`;
    return rows.map((row) => ({
      accountId: row.account_id,
      period,
      used: row.used,
      consumed: row.consumed,
      reserved: row.reserved,
      held: row.held,
    }));
  };
