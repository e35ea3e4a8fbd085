import { AppError } from '../errors.js';
import { freeAt, type ReserveTries, type ShortMemory, secondsUntil, type TakeBackTries } from './attempts.js';
import { type beginSession, type SessionSecrets, type UserCredentials, wrongCredentials } from './session.js';

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

export type Client = {
  /** Networks from the widest to the narrowest. */
  branches: string[];
  /** The networks by which wrong passwords for one e-mail address are counted, see {@link SIGN_IN_LIMITS}. */
  family: string;
  wide: string;
  site: string;
};

/** Work that arrives at a {@link FairQueue}. */
export type Arrival = {
  /** Where the work comes from: networks from the widest to the narrowest, then finer distinctions. */
  branches: readonly string[];
  /** The error with which the work is refused, or null. Called on arrival and again when the work's turn comes; must be cheap. */
  check: () => AppError | null;
};

/** A queue in which sources take turns, however much each sends. */
export type FairQueue = {
  /** Runs work one piece at a time, unless `gone` aborts before. Throws the error of `check`, of a full queue or of the work. */
  run: <T>(work: Arrival & { run: () => Promise<T>; gone: AbortSignal }) => Promise<T>;
  /** The error with which work would be refused on arrival, or null. A refusal counts as an arrival. */
  refuseAtOnce: (arrival: Arrival) => AppError | null;
};

/** The user who signs in. `knownNetworks`: HMACs of the address with the sites from which the user has signed in. */
export type UserToSignIn = UserCredentials & { knownNetworks: Uint8Array[] };

export type SignInDeps = {
  tokens: SessionSecrets;
  queue: FairQueue;
  /** Cached refusals: until when attempts for an address from a site are refused. */
  refusals: ShortMemory<Date>;
  reserve: ReserveTries;
  /** Deletes all attempts counted under a key. */
  forget: (key: Uint8Array) => Promise<void>;
  /** Subtracts one attempt that was counted under each of the keys. */
  takeBack: TakeBackTries;
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
    const seconds = secondsUntil(free, now(), SIGN_IN_LIMITS.windowMs);
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
    const sharedKeys = shared.map((limit) => limit.key);
    const refused = await deps.reserve([{ key: site, tries: SIGN_IN_LIMITS.site }, ...shared], at);
    if (refused.length > 0) {
      const atSite = refused.find((limit) => site.equals(limit.key));
      if (atSite) deps.refusals.set(site.toString('hex'), atSite.free, at);
      throw tooMany(freeAt(refused));
    }
    const isRight = await deps
      .verifyPassword(user?.passwordHash ?? (await deps.dummyHash), password)
      .catch(async (error) => {
        await deps.takeBack([site, ...sharedKeys], at);
        throw error;
      });
    if (!user || !isRight) throw wrongCredentials();
    await Promise.all([
      deps.forget(site),
      sharedKeys.length > 0 && deps.takeBack(sharedKeys, at),
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
