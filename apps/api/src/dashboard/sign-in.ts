import type { NewSession, RefusedTries, TryLimit, UserCredentials, UserToSignIn } from '@vat/db';
import { AppError } from '@vat/domain';
import type { Arrival, FairQueue } from '../fair-queue.js';
import type { ShortMemory } from '../short-memory.js';
import type { Client } from './client-network.js';
import type { SessionTokens } from './session.js';

type BeginSessionDeps = {
  tokens: SessionTokens;
  /** False when the user has another password by now. */
  insertSession: (session: NewSession, earlier: Uint8Array | null) => Promise<boolean>;
  /** Milliseconds until a session that is not used ends. */
  sessionLifeMs: number;
  now: () => Date;
};

/**
 * Begins a session for a user whose password was judged; returns its token. `earlier`: the token the browser came with,
 * whose session ends. Throws UNAUTHORIZED when the password was changed meanwhile.
 */
export const beginSession =
  ({ tokens, insertSession, sessionLifeMs, now }: BeginSessionDeps) =>
  async ({ id: userId, passwordHash }: UserCredentials, earlier: string | null): Promise<string> => {
    const token = tokens.issue();
    const at = now();
    const begun = await insertSession(
      { id: tokens.hash(token), userId, passwordHash, now: at, expiresAt: new Date(at.getTime() + sessionLifeMs) },
      earlier === null ? null : tokens.hash(earlier),
    );
    if (!begun) throw new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });
    return token;
  };

/** Whole seconds from one moment to a later one, at least 1: a Retry-After. */
export const secondsUntil = (later: Date, at: Date): number =>
  Math.max(1, Math.ceil((later.getTime() - at.getTime()) / 1_000));

/**
 * Wrong passwords for one e-mail address, and the time in which they count: from one site (contract part 2 §9, "a
 * handful"), from one wide network, and from all of IPv4 or IPv6. Beyond the last two, the address still signs in from
 * the other family and from networks where it has signed in before.
 */
export const SIGN_IN_LIMITS = { windowMs: 15 * 60_000, site: 5, wide: 20, family: 100 } as const;

/** Passwords that one process verifies: wrong ones at first and then a second, and how many wait for how long. */
export const SIGN_IN_QUEUE = { tokens: { burst: 60, perSecond: 2 }, maxWaiting: 40, maxWaitMs: 15_000 } as const;

/** Seconds after which a sign-in that found the queue full may be tried again. */
const BUSY_S = 2;

/** The error of a sign-in while too many are waiting. */
export const tooBusyToSignIn = (): AppError =>
  new AppError('TOO_MANY_SIGN_INS', {
    message: 'Too many are signing in from your network at this moment.',
    extra: { retry_after: BUSY_S },
  });

type SignInDeps = {
  tokens: SessionTokens;
  queue: FairQueue;
  /** Until when tries of an address from a site are refused, without looking it up again. */
  refusals: ShortMemory<Date>;
  /** Counts a try; returns the limits that refuse it, and then counts nothing. */
  reserve: (limits: readonly TryLimit[], now: Date) => Promise<RefusedTries[]>;
  /** Drops all tries counted under a key. */
  forget: (key: Uint8Array) => Promise<void>;
  /** Takes back one try that was counted under each of the keys. */
  takeBack: (keys: readonly Uint8Array[], at: Date) => Promise<void>;
  findUser: (email: string) => Promise<UserToSignIn | null>;
  /** The sites where a user has signed in lately, as far as this process knows them. */
  knownSites: ShortMemory<true>;
  /** Adds a network to those where a user has signed in. */
  rememberNetwork: (userId: string, network: Uint8Array) => Promise<void>;
  verifyPassword: (phc: string, password: string) => Promise<boolean>;
  beginSession: ReturnType<typeof beginSession>;
  /** A hash of no password, made like the real ones. */
  dummyHash: Promise<string>;
  now: () => Date;
};

/** `earlier`: the token the browser came with, whose session ends. `gone` aborts when the caller has left. */
export type SignInInput = {
  email: string;
  password: string;
  client: Client;
  earlier: string | null;
  gone: AbortSignal;
};

/**
 * Verifies an e-mail address and a password and begins a session; returns its token. Throws UNAUTHORIZED, the same and
 * after the same work for an unknown address as for a wrong password, or TOO_MANY_SIGN_INS. Only wrong passwords count.
 * A sign-in that is refused because others are waiting, or again within a second, reads and writes nothing.
 */
export const signIn = ({ tokens, now, ...deps }: SignInDeps) => {
  const tooMany = (free: Date) =>
    new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: secondsUntil(free, now()) } });

  const verify = async (input: SignInInput, site: Buffer): Promise<UserToSignIn> => {
    const { email, password, client } = input;
    const at = now();
    const user = await deps.findUser(email);
    // No address that can be typed has U+0000 in it.
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
    const right = await deps
      .verifyPassword(user?.passwordHash ?? (await deps.dummyHash), password)
      .catch(async (error) => {
        await deps.takeBack([site, ...shared.map((limit) => limit.key)], at);
        throw error;
      });
    if (!user || !right) {
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
  const arrivalOf = (site: Buffer, email: string, client: Client): Arrival => ({
    // Apart from all others, so that no flood keeps owners out of their usual network.
    branches: deps.knownSites.find(site.toString('hex'), now())
      ? ['known', site.toString('hex')]
      : [...client.branches, tokens.hashAddress(email).toString('base64')],
    check: () => {
      const free = deps.refusals.find(site.toString('hex'), now());
      return free ? tooMany(free) : null;
    },
  });

  return {
    signIn: async (input: SignInInput): Promise<string> => {
      const { email, client, gone, earlier } = input;
      const site = siteOf(email, client);
      const arrival = arrivalOf(site, email, client);
      const user = await deps.queue.run({ ...arrival, run: () => verify(input, site), gone });
      return deps.beginSession(user, earlier);
    },
    /** The error with which a sign-in is refused at once, whatever its password, or null. Reads and writes nothing. */
    refuse: (email: string, client: Client): AppError | null =>
      deps.queue.refuseAtOnce(arrivalOf(siteOf(email, client), email, client)),
  };
};
