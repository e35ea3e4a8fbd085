import { newUuid, publicId } from '../ids.js';
import { hashApiKey, newApiKey } from './api-key.js';
import type { Plan } from './plans.js';

/** A key to be stored: its hash and its last characters, never itself. */
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

/** Live keys an account may have. Source: contract part 2 §9. */
export const MAX_KEYS = 200;

/** A new key and what of it is stored. `key` is shown once and kept nowhere. */
export const issueKey = (name: string, test: boolean): { key: string; stored: NewKey } => {
  const key = newApiKey(test);
  return { key, stored: { id: newUuid(), name, test, hash: hashApiKey(key), hint: key.slice(-4) } };
};

export type CreateAccountDeps = {
  /** False when the e-mail address is taken. */
  insertAccount: (account: NewAccount) => Promise<boolean>;
  hashPassword: (password: string) => Promise<string>;
  now: () => Date;
};

/** Makes an account with one user, a live key and a test key; `null` when the e-mail address is taken. */
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
