import type { SignUpBody } from '@vat/contracts';
import type { UserCredentials } from '@vat/db';
import { AppError, type createAccount } from '@vat/domain';
import type { beginSession } from './begin-session.js';
import { secondsUntil } from './seconds-until.js';
import type { SessionTokens } from './session-tokens.js';

/** Accounts that may be opened: from one network, and in all, so that a crowd of networks fills no disk either. */
export const SIGN_UP_LIMITS = {
  network: { tries: 10, windowMs: 60 * 60_000 },
  all: { tries: 300, windowMs: 60 * 60_000 },
} as const;

export type SignUpDeps = {
  tokens: SessionTokens;
  /** `null` when an account may be opened, else when the next one may. */
  reserveOfNetwork: (key: Uint8Array, now: Date) => Promise<Date | null>;
  reserveOfAll: (key: Uint8Array, now: Date) => Promise<Date | null>;
  createAccount: ReturnType<typeof createAccount>;
  findUser: (email: string) => Promise<UserCredentials | null>;
  beginSession: ReturnType<typeof beginSession>;
  now: () => Date;
};

/** What the page is told once. `token`: of the session that begins. */
export type SignedUp = { token: string; liveKey: string; testKey: string };

/**
 * Opens an account on the free plan and begins a session. Throws TOO_MANY_SIGN_UPS before any work, or EMAIL_TAKEN after
 * the same work as for an address that is free: see docs/decisions/0019-signing-up-and-news.md. `network`: where it comes from.
 */
export const signUp =
  ({ tokens, now, ...deps }: SignUpDeps) =>
  async (input: SignUpBody, network: string, earlier: string | null): Promise<SignedUp> => {
    const at = now();
    // What is stored is an HMAC, as of addresses at sign-in.
    const free =
      (await deps.reserveOfNetwork(tokens.hashAddress(`\0sign-up from\0${network}`), at)) ??
      (await deps.reserveOfAll(tokens.hashAddress('\0sign-up\0'), at));
    if (free) throw new AppError('TOO_MANY_SIGN_UPS', { extra: { retry_after: secondsUntil(free, at) } });
    const created = await deps.createAccount({ ...input, plan: 'free', quota: null });
    if (!created) throw new AppError('EMAIL_TAKEN');
    const user = await deps.findUser(input.email);
    if (!user) throw new Error('a user was gone as soon as it was made');
    const token = await deps.beginSession(user, earlier);
    return { token, liveKey: created.liveKey, testKey: created.testKey };
  };
