import type { NewSession, RefusedTries, TryLimit, UserCredentials, UserToSignIn } from '@vat/db';
import { AppError } from '@vat/domain';
import type { Arrival, FairQueue } from '../fair-queue.js';
import type { ShortMemory } from '../short-memory.js';
import type { Client } from './client-network.js';
import type { SessionTokens } from './session.js';

type BeginSessionDeps = {
  tokens: SessionTokens;
  /** False when the user's password has changed since. */
  insertSession: (session: NewSession, earlier: Uint8Array | null) => Promise<boolean>;
  /** Milliseconds after which an unused session ends. */
  sessionLifeMs: number;
  now: () => Date;
};

/**
 * Begins a session for a user whose password was verified, and returns its token. `earlier`: the token that the browser sent,
 * whose session ends. Throws UNAUTHORIZED when the password was changed in the meantime.
 */
export const beginSession =
  ({ tokens, insertSession, sessionLifeMs, now }: BeginSessionDeps) =>
  async ({ id: userId, passwordHash }: UserCredentials, earlier: string | null): Promise<string> => {
    const token = tokens.issue();
    const at = now();
    const isInserted = await insertSession(
      { id: tokens.hash(token), userId, passwordHash, now: at, expiresAt: new Date(at.getTime() + sessionLifeMs) },
      earlier === null ? null : tokens.hash(earlier),
    );
    if (!isInserted) throw new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });
    return token;
  };

/** Whole seconds from one time to a later one, at least 1, for Retry-After. */
export const secondsUntil = (later: Date, at: Date): number =>
  Math.max(1, Math.ceil((later.getTime() - at.getTime()) / 1_000));

/**
 * How many wrong passwords are allowed for one e-mail address, and the time in which they count: from one site, from one wide
 * network, and from all of IPv4 or IPv6. When the last two are exceeded, the user can still sign in from the other family and
 * from sites where the user has signed in before.
 */
export const SIGN_IN_LIMITS = { windowMs: 15 * 60_000, site: 5, wide: 20, family: 100 } as const;

/** How many wrong passwords one process verifies (first `burst`, then `perSecond`), how many sign-ins wait, and for how long. */
export const SIGN_IN_QUEUE = { tokens: { burst: 60, perSecond: 2 }, maxWaiting: 40, maxWaitMs: 15_000 } as const;

/** Seconds after which a sign-in may be repeated that was refused because the queue was full. */
const BUSY_RETRY_AFTER_S = 2;

/** The error of a sign-in that is refused because too many wait. Shared, as those of `signIn` are. */
const TOO_BUSY = new AppError('TOO_MANY_SIGN_INS', {
  message: 'Too many are signing in at this moment.',
  extra: { retry_after: BUSY_RETRY_AFTER_S },
});
export const tooBusyToSignIn = (): AppError => TOO_BUSY;

type SignInDeps = {
  tokens: SessionTokens;
  queue: FairQueue;
  /** Cached refusals: until when attempts for an address from a site are refused. */
  refusals: ShortMemory<Date>;
  /** Counts an attempt. When a limit is reached, counts nothing and returns the limits that refuse it. */
  reserve: (limits: readonly TryLimit[], now: Date) => Promise<RefusedTries[]>;
  /** Deletes all attempts counted under a key. */
  forget: (key: Uint8Array) => Promise<void>;
  /** Subtracts one attempt that was counted under each of the keys. */
  takeBack: (keys: readonly Uint8Array[], at: Date) => Promise<void>;
  findUser: (email: string) => Promise<UserToSignIn | null>;
  /** The sites from which a user has signed in recently, as far as this process has read them. */
  knownSites: ShortMemory<true>;
  /** Adds a network to those from which a user has signed in. */
  rememberNetwork: (userId: string, network: Uint8Array) => Promise<void>;
  verifyPassword: (phc: string, password: string) => Promise<boolean>;
  beginSession: ReturnType<typeof beginSession>;
  /** A hash that matches no password, with the cost of a real one. */
  dummyHash: Promise<string>;
  now: () => Date;
};

/** `earlier`: the token that the browser sent, whose session ends. `gone` aborts when the caller disconnects. */
export type SignInInput = {
  email: string;
  password: string;
  client: Client;
  earlier: string | null;
  gone: AbortSignal;
};

/**
 * Verifies an e-mail address and a password, begins a session, and returns its token. Throws UNAUTHORIZED (the same error after
 * the same work for an unknown address as for a wrong password) or TOO_MANY_SIGN_INS. Only wrong passwords count. A sign-in
 * that is refused because the queue is full, or again within a second, reads and writes nothing in the database.
 */
export const signIn = ({ tokens, now, ...deps }: SignInDeps) => {
  // At most one for each second of the window. Shared: in a flood, creating errors costs more than refusing.
  const errors = new Map<number, AppError>();
  const tooMany = (free: Date): AppError => {
    const seconds = secondsUntil(free, now());
    const error = errors.get(seconds) ?? new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: seconds } });
    errors.set(seconds, error);
    return error;
  };

  const verify = async (input: SignInInput, site: Buffer): Promise<UserToSignIn> => {
    const { email, password, client } = input;
    const at = now();
    const user = await deps.findUser(email);
    // U+0000 cannot be part of an e-mail address, so these keys cannot collide.
    const key = (network: string) => tokens.hashAddress(`${email}\0from\0${network}`);
    const isKnown = user?.knownNetworks.some((known) => site.equals(known)) ?? false;
    const shared = isKnown
      ? []
      : [
          { key: key(client.wide), tries: SIGN_IN_LIMITS.wide },
          { key: key(client.family), tries: SIGN_IN_LIMITS.family },
        ];
    const refused = await deps.reserve([{ key: site, tries: SIGN_IN_LIMITS.site }, ...shared], at);
    if (refused.length > 0) {
      const atSite = refused.find((limit) => site.equals(limit.key));
      if (atSite) deps.refusals.set(site.toString('hex'), atSite.free, at);
      throw tooMany(new Date(Math.max(...refused.map(({ free }) => free.getTime()))));
    }
    const isRight = await deps
      .verifyPassword(user?.passwordHash ?? (await deps.dummyHash), password)
      .catch(async (error) => {
        await deps.takeBack([site, ...shared.map((limit) => limit.key)], at);
        throw error;
      });
    if (!user || !isRight) {
      throw new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });
    }
    await Promise.all([
      deps.forget(site),
      shared.length > 0 &&
        deps.takeBack(
          shared.map((limit) => limit.key),
          at,
        ),
      isKnown || deps.rememberNetwork(user.id, site),
    ]);
    deps.knownSites.set(site.toString('hex'), true, at);
    return user;
  };

  const siteOf = (email: string, client: Client): Buffer => tokens.hashAddress(`${email}\0from\0${client.site}`);
  const arrivalOf = (site: Buffer, email: string, client: Client): Arrival => {
    const id = site.toString('hex');
    return {
      // A separate branch, so that a flood does not keep users from signing in from their usual site.
      branches: deps.knownSites.find(id, now()) ? ['known', id] : [...client.branches, email],
      check: () => {
        const free = deps.refusals.find(id, now());
        return free ? tooMany(free) : null;
      },
    };
  };

  return {
    signIn: async (input: SignInInput): Promise<string> => {
      const { email, client, gone, earlier } = input;
      const site = siteOf(email, client);
      const arrival = arrivalOf(site, email, client);
      const user = await deps.queue.run({ ...arrival, run: () => verify(input, site), gone });
      return deps.beginSession(user, earlier);
    },
    /** The error with which a sign-in is refused regardless of its password, or null. Does not use the database. */
    refuse: (email: string, client: Client): AppError | null =>
      deps.queue.refuseAtOnce(arrivalOf(siteOf(email, client), email, client)),
  };
};
