import { type ApiKeySummary, isPlan, monthlyQuota, type Plan } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { columns, query } from '../query.js';

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

const CALLER = columns({
  keyId: 'uuid',
  test: 'bool',
  accountId: 'uuid',
  plan: 'text',
  monthlyQuota: 'int4?',
  disabledAt: 'timestamptz?',
});

/** The caller behind a key's hash; `null` when it is unknown or revoked. One statement: a call waits for it. */
export const findApiKey =
  (db: Queryable) =>
  async (hash: Uint8Array): Promise<Caller | null> => {
    const [found] = await query(db, CALLER)`
      SELECT k.id AS "keyId", k.test, a.id AS "accountId", a.plan, a.monthly_quota AS "monthlyQuota", a.disabled_at AS "disabledAt"
      FROM api_key k JOIN account a ON a.id = k.account_id
      WHERE k.hash = ${Buffer.from(hash)} AND k.revoked_at IS NULL`;
    if (!found) return null;
    const { keyId, test, accountId, plan, disabledAt } = found;
    if (!isPlan(plan)) throw new Error(`account ${accountId} has the unknown plan ${plan}`);
    const quota = monthlyQuota({ plan, monthlyQuota: found.monthlyQuota });
    return { keyId, test, accountId, plan, quota, disabled: disabledAt !== null };
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
