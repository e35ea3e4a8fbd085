import { AppError } from '../errors.js';
import type { createAccount } from './account.js';
import { freeAt, type ReserveTries, type ShortMemory, secondsUntil } from './attempts.js';
import type { beginSession, SessionSecrets, UserCredentials } from './session.js';

/**
 * How many accounts may be opened per window: from one network, from one site (a /48 of IPv6), and in total, so that an attack
 * from many networks cannot fill the disk.
 */
export const SIGN_UP_LIMITS = { windowMs: 60 * 60_000, network: 10, site: 50, all: 300 } as const;

type SignUpDeps = {
  tokens: SessionSecrets;
  reserve: ReserveTries;
  /** Cached refusals: until when a limit refuses accounts. */
  refusals: ShortMemory<Date>;
  createAccount: ReturnType<typeof createAccount>;
  findUser: (email: string) => Promise<UserCredentials | null>;
  beginSession: ReturnType<typeof beginSession>;
  now: () => Date;
};

type SignUpInput = {
  name: string;
  email: string;
  password: string;
  /** The origin of the call: its /64 of IPv6 and its site, or its IPv4 address for both. */
  network: string;
  site: string;
  /** The token that the browser sent, whose session ends. */
  earlier: string | null;
};

/**
 * Opens an account on the free plan and begins a session. Returns its token, and the keys, which are shown once. Throws
 * TOO_MANY_SIGN_UPS before any work, or EMAIL_TAKEN after the same work as for an available address
 * (docs/decisions/0019-signing-up-and-news.md).
 */
export const signUp =
  ({ tokens, now, ...deps }: SignUpDeps) =>
  async ({ name, email, password, network, site, earlier }: SignUpInput) => {
    const at = now();
    const tooMany = (until: Date) =>
      new AppError('TOO_MANY_SIGN_UPS', { extra: { retry_after: secondsUntil(until, at, SIGN_UP_LIMITS.windowMs) } });
    // Networks are stored as HMACs, like e-mail addresses at sign-in. An IPv4 address is both a network and a site.
    const limits = [
      { key: tokens.hashAddress(`\0sign-up from\0${network}`), tries: SIGN_UP_LIMITS.network },
      { key: tokens.hashAddress(`\0sign-up from site\0${site}`), tries: SIGN_UP_LIMITS.site },
      { key: tokens.hashAddress('\0sign-up\0'), tries: SIGN_UP_LIMITS.all },
    ];
    for (const { key } of limits) {
      const free = deps.refusals.find(key.toString('hex'), at);
      if (free) throw tooMany(free);
    }
    const refused = await deps.reserve(limits, at);
    for (const { key, free } of refused) deps.refusals.set(key.toString('hex'), free, at);
    if (refused.length > 0) throw tooMany(freeAt(refused));
    const created = await deps.createAccount({ name, email, password, plan: 'free', quota: null });
    if (!created) throw new AppError('EMAIL_TAKEN');
    const user = await deps.findUser(email);
    if (!user) throw new Error('the new user was not found');
    const token = await deps.beginSession(user, earlier);
    return { token, liveKey: created.liveKey, testKey: created.testKey };
  };
