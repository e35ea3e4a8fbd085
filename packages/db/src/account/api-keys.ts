import { type ApiKeySummary, isPlan, monthlyQuota, type Plan } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';

/** The caller: a key and its account. */
export type Caller = {
  keyId: string;
  test: boolean;
  accountId: string;
  plan: Plan;
  /** Checks a month. */
  quota: number;
  disabled: boolean;
};

/** The caller behind a key's hash; `null` when it is unknown or revoked. */
export const findApiKey =
  (db: Database) =>
  async (hash: Uint8Array): Promise<Caller | null> => {
    const key = await db.apiKey.findUnique({ where: { hash: Buffer.from(hash) }, include: { account: true } });
    if (!key || key.revokedAt) return null;
    const { account } = key;
    if (!isPlan(account.plan)) throw new Error(`account ${account.id} has the unknown plan ${account.plan}`);
    return {
      keyId: key.id,
      test: key.test,
      accountId: account.id,
      plan: account.plan,
      quota: monthlyQuota({ plan: account.plan, monthlyQuota: account.monthlyQuota }),
      disabled: account.disabledAt !== null,
    };
  };

/** Records the use of a key. Callers throttle this. */
export const touchApiKey =
  (db: Database) =>
  async (keyId: string, now: Date): Promise<void> => {
    await db.apiKey.updateMany({ where: { id: keyId, revokedAt: null }, data: { lastUsedAt: now } });
  };

/** Keys of an account before `beforeId`, newest first, including revoked ones. Ids are time-ordered. */
export const listApiKeys =
  (db: Database) =>
  (accountId: string, beforeId: string | null, limit: number): Promise<ApiKeySummary[]> =>
    db.apiKey.findMany({
      where: { accountId, ...(beforeId ? { id: { lt: beforeId } } : {}) },
      orderBy: { id: 'desc' },
      take: limit,
      select: { id: true, name: true, test: true, hint: true, createdAt: true, lastUsedAt: true, revokedAt: true },
    });

/** Revokes a key of an account; false when the account has no such key. A second call does not change the time. */
export const revokeOwnKey =
  (db: Queryable) =>
  async (accountId: string, keyId: string, now: Date): Promise<boolean> => {
    const found = await db.$executeRaw`
      UPDATE api_key SET revoked_at = COALESCE(revoked_at, ${now}::timestamptz)
      WHERE id = ${keyId}::uuid AND account_id = ${accountId}::uuid`;
    return found > 0;
  };
