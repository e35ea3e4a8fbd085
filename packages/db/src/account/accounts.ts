import type { NewAccount, NewKey, Plan } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, query } from '../query.js';

const keyData = (key: NewKey, now: Date) => ({ ...key, hash: Buffer.from(key.hash), createdAt: now });

/** Writes an account with its first user and keys. False when the e-mail address is taken. */
export const insertAccount =
  (db: Database) =>
  async ({ id, name, plan, monthlyQuota, user, keys, now }: NewAccount): Promise<boolean> => {
    try {
      await db.account.create({
        data: {
          id,
          name,
          plan,
          monthlyQuota,
          createdAt: now,
          users: { create: { ...user, createdAt: now } },
          keys: { create: keys.map((key) => keyData(key, now)) },
        },
      });
      return true;
    } catch (error) {
      if (error instanceof Prisma.PrismaClientKnownRequestError && error.code === 'P2002') return false;
      throw error;
    }
  };

/** Locks the row of an account until the transaction ends, so that counts of its rows stay correct; null without account. */
export const lockAccount = async (
  tx: Queryable,
  accountId: string,
): Promise<{ disabled: boolean; erased: boolean } | null> => {
  const [account] = await query(tx, all('bool', 'disabled', 'erased'))`
    SELECT disabled_at IS NOT NULL AS disabled, erased_at IS NOT NULL AS erased
    FROM account WHERE id = ${accountId}::uuid FOR NO KEY UPDATE`;
  return account ?? null;
};

/** Revoked keys of an account that are stored: those that were revoked last. Otherwise creating and revoking keys fills the table. */
const REVOKED_KEPT = 1_000;

/**
 * Adds a key to an account; false when the account does not exist, was erased or has `maxKeys` live ones. Deletes its oldest
 * revoked keys beyond {@link REVOKED_KEPT}.
 */
export const insertApiKey =
  (db: Database) =>
  async (accountId: string, key: NewKey, now: Date, maxKeys: number): Promise<boolean> =>
    db.$transaction(async (tx) => {
      const account = await lockAccount(tx, accountId);
      if (account === null || account.erased) return false;
      if ((await tx.apiKey.count({ where: { accountId, revokedAt: null } })) >= maxKeys) return false;
      await tx.apiKey.create({ data: { ...keyData(key, now), accountId } });
      await tx.$executeRaw`
        DELETE FROM api_key WHERE id = ANY(ARRAY(
          SELECT id FROM api_key WHERE account_id = ${accountId}::uuid AND revoked_at IS NOT NULL
          ORDER BY revoked_at DESC, id DESC OFFSET ${REVOKED_KEPT}::int))`;
      return true;
    });

/** Revokes a key; false when there is none. A second call does not change the time. */
export const revokeApiKey =
  (db: Database) =>
  async (id: string, now: Date): Promise<boolean> => {
    if ((await db.apiKey.count({ where: { id } })) === 0) return false;
    await db.apiKey.updateMany({ where: { id, revokedAt: null }, data: { revokedAt: now } });
    return true;
  };

/**
 * Disables (`now`) or enables (`null`) an account, and returns since when it is disabled; null when there is none, or it was erased.
 * Disabling it again does not change the time.
 */
export const setAccountDisabled =
  (db: Database) =>
  async (id: string, disabledAt: Date | null): Promise<{ disabledAt: Date | null } | null> => {
    const unless = disabledAt === null ? {} : { disabledAt: null };
    await db.account.updateMany({ where: { id, erasedAt: null, ...unless }, data: { disabledAt } });
    return db.account.findFirst({ where: { id, erasedAt: null }, select: { disabledAt: true } });
  };

/** Moves an account to another plan; false when there is none. The shares of the new plan's quota are mailed when they are reached. */
export const setAccountPlan =
  (db: Database) =>
  (id: string, plan: Plan): Promise<boolean> =>
    db.$transaction(async (tx) => {
      const { count } = await tx.account.updateMany({ where: { id, plan: { not: plan } }, data: { plan } });
      if (count === 0) return (await tx.account.count({ where: { id } })) > 0;
      // An account with a quota of its own has the same one as before.
      await tx.usage.updateMany({
        where: { accountId: id, account: { monthlyQuota: null } },
        data: { mailedPercent: 0 },
      });
      return true;
    });

type AccountSummary = {
  id: string;
  name: string;
  plan: string;
  monthlyQuota: number | null;
  disabledAt: Date | null;
  createdAt: Date;
  /** Its owners, the earliest first. */
  users: { email: string }[];
};

/** A page of accounts in the order of their creation. */
export const listAccounts =
  (db: Database) =>
  (afterId: string | null, limit: number): Promise<AccountSummary[]> =>
    db.account.findMany({
      where: afterId ? { id: { gt: afterId } } : {},
      orderBy: { id: 'asc' },
      take: limit,
      select: {
        id: true,
        name: true,
        plan: true,
        monthlyQuota: true,
        disabledAt: true,
        createdAt: true,
        users: { where: { role: 'owner' }, orderBy: { id: 'asc' }, select: { email: true } },
      },
    });

/** The units of an account in a month; zeros when it has none. */
export const findUsage =
  (db: Database) =>
  async (accountId: string, period: string): Promise<{ used: number; reserved: number }> => {
    const usage = await db.usage.findUnique({ where: { accountId_period: { accountId, period } } });
    return { used: usage?.used ?? 0, reserved: usage?.reserved ?? 0 };
  };
