import type { Queryable } from '../connect-database.js';

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
