import { isPlan, monthlyQuota, type Plan } from '@vat/domain';
import type { Database } from '../connect-database.js';

/** Who calls: a key and its account. */
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

/** Notes that a key was used; callers throttle this. */
export const touchApiKey =
  (db: Database) =>
  async (keyId: string, now: Date): Promise<void> => {
    await db.apiKey.updateMany({ where: { id: keyId, revokedAt: null }, data: { lastUsedAt: now } });
  };
