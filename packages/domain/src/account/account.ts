import { AppError } from '../errors.js';
import { newUuid, publicId } from '../ids.js';
import { hashApiKey, newApiKey } from './api-key.js';

/** What a plan sells. */
export const PLANS = {
  free: { checksPerMonth: 100, watches: 0, frequencies: [] },
  starter: { checksPerMonth: 2_000, watches: 50, frequencies: ['weekly'] },
  business: { checksPerMonth: 20_000, watches: 1_000, frequencies: ['weekly', 'daily'] },
  enterprise: { checksPerMonth: 1_000_000, watches: 50_000, frequencies: ['weekly', 'daily'] },
} as const satisfies Record<string, { checksPerMonth: number; watches: number; frequencies: readonly string[] }>;

export type Plan = keyof typeof PLANS;

export const isPlan = (name: string): name is Plan => Object.hasOwn(PLANS, name);

/** Checks that an account may use in a month: its own quota if it has one, else its plan's. */
export const monthlyQuota = (account: { plan: Plan; monthlyQuota: number | null }): number =>
  account.monthlyQuota ?? PLANS[account.plan].checksPerMonth;

/** A key to be stored: its hash and its last characters, never the key itself. */
export type NewKey = { id: string; name: string; test: boolean; hash: Uint8Array; hint: string };

export type NewAccount = {
  id: string;
  name: string;
  plan: Plan;
  monthlyQuota: number | null;
  user: { id: string; email: string; passwordHash: string };
  keys: NewKey[];
  now: Date;
};

/** Live keys an account may have. */
export const MAX_KEYS = 200;

/** A new key and its stored form. `key` is shown once and never stored. */
export const issueKey = (name: string, test: boolean): { key: string; stored: NewKey } => {
  const key = newApiKey(test);
  return { key, stored: { id: newUuid(), name, test, hash: hashApiKey(key), hint: key.slice(-4) } };
};

type CreateKeyDeps = {
  /** False when the account already has `maxKeys` live keys. */
  insertKey: (accountId: string, key: NewKey, now: Date, maxKeys: number) => Promise<boolean>;
  now: () => Date;
};

/** Adds a key to an account. Throws KEY_LIMIT. `key` is shown once. */
export const createKey =
  ({ insertKey, now }: CreateKeyDeps) =>
  async (accountId: string, name: string, test: boolean): Promise<{ id: string; key: string }> => {
    const { key, stored } = issueKey(name, test);
    const isInserted = await insertKey(accountId, stored, now(), MAX_KEYS);
    if (!isInserted) throw new AppError('KEY_LIMIT', { extra: { limit: MAX_KEYS } });
    return { id: stored.id, key };
  };

type CreateAccountDeps = {
  /** False when the e-mail address is taken. */
  insertAccount: (account: NewAccount) => Promise<boolean>;
  hashPassword: (password: string) => Promise<string>;
  now: () => Date;
};

/** Creates an account with one user, a live key and a test key; `null` when the e-mail address is taken. */
export const createAccount =
  ({ insertAccount, hashPassword, now }: CreateAccountDeps) =>
  async (input: { name: string; email: string; password: string; plan: Plan; quota: number | null }) => {
    const live = issueKey('Live', false);
    const test = issueKey('Test', true);
    const id = newUuid();
    const created = await insertAccount({
      id,
      name: input.name,
      plan: input.plan,
      monthlyQuota: input.quota,
      user: {
        id: newUuid(),
        email: input.email.trim().toLowerCase(),
        passwordHash: await hashPassword(input.password),
      },
      keys: [live.stored, test.stored],
      now: now(),
    });
    return created ? { accountId: publicId('account', id), liveKey: live.key, testKey: test.key } : null;
  };

/** The UTC calendar month of `at`, as `YYYY-MM`: the key of a usage row. */
export const periodOf = (at: Date): string => at.toISOString().slice(0, 7);

/** Within this time after the end of a month its last requests have ended. */
const CLOSING_MS = 10 * 86_400_000;

/** The months whose usage counters are audited: the current one and, while its last requests end, the one before. */
export const auditedPeriods = (now: Date): string[] => [
  ...new Set([periodOf(new Date(now.getTime() - CLOSING_MS)), periodOf(now)]),
];

/** The beginning of the earliest audited month: the usage entries from then on are counted, however short evidence is stored. */
export const auditedFrom = (now: Date): Date =>
  new Date(Math.min(...auditedPeriods(now).map((period) => Date.parse(`${period}-01T00:00:00Z`))));

/** The end of a period, which is the start of the next one; `reset_at` in the API. */
export const periodEnd = (period: string): Date => {
  const [year = 0, month = 1] = period.split('-').map(Number);
  return new Date(Date.UTC(year, month, 1));
};
