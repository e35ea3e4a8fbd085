import type { UserCredentials } from '@vat/db';
import { AppError } from '@vat/domain';
import type { InTurn } from '../few-at-a-time.js';
import type { beginSession } from './begin-session.js';
import { secondsUntil } from './seconds-until.js';
import type { SessionTokens } from './session-tokens.js';

/**
 * Wrong tries that are judged, and the time in which they count. Of an address: contract part 2 §9 ("a handful"). Of a
 * network: what keeps one that tries ever new addresses from taking a core for ever, far above what an office mistypes.
 */
export const SIGN_IN_LIMITS = {
  address: { tries: 5, windowMs: 15 * 60_000 },
  network: { tries: 1_500, windowMs: 15 * 60_000 },
} as const;

/** Seconds after which the passwords that wait in front of another have been judged. */
const BUSY_S = 2;

/** What a sign-in is told that would wait behind too many others of its network. */
export const tooBusyToSignIn = (): AppError =>
  new AppError('TOO_MANY_SIGN_INS', {
    message: 'Too many are signing in from your network at this moment.',
    extra: { retry_after: BUSY_S },
  });

/** `network`: where it comes from. `gone` aborts when who asked has left. */
type From = { network: string; gone: AbortSignal };

export type SignInDeps = {
  tokens: SessionTokens;
  /** `null` when the password may be judged, else when the next one may. */
  reserve: (address: Uint8Array, now: Date) => Promise<Date | null>;
  reserveOfNetwork: (network: Uint8Array, now: Date) => Promise<Date | null>;
  forget: (address: Uint8Array) => Promise<void>;
  /** Takes back one try that was reserved. */
  takeBack: (key: Uint8Array, at: Date) => Promise<void>;
  findUser: (email: string) => Promise<UserCredentials | null>;
  /** Throws TOO_MANY_SIGN_INS when too many wait already. */
  verifyPassword: (phc: string, password: string, from: From) => Promise<boolean>;
  beginSession: ReturnType<typeof beginSession>;
  inTurn: InTurn;
  /** A hash of no password, made like the real ones. */
  decoy: Promise<string>;
  now: () => Date;
};

export type SignInInput = From & { email: string; password: string; earlier: string | null };

/**
 * Judges an address and a password and begins a session; returns its token. Throws UNAUTHORIZED, the same and after the
 * same work for an unknown address as for a wrong password, or TOO_MANY_SIGN_INS before any of that work. `earlier`: the
 * token the browser came with, whose session ends. Only passwords that were judged and wrong count.
 */
export const signIn = (deps: SignInDeps) => {
  const { tokens, inTurn, now } = deps;
  const judge = async ({ email, password, network, gone }: SignInInput, address: Buffer): Promise<UserCredentials> => {
    const at = now();
    const tooMany = (free: Date, message?: string) =>
      new AppError('TOO_MANY_SIGN_INS', {
        ...(message && { message }),
        extra: { retry_after: secondsUntil(free, at) },
      });
    const free = await deps.reserve(address, at);
    if (free) throw tooMany(free);
    // No address that can be typed has U+0000 in it.
    const place = tokens.hashAddress(`\0sign-in from\0${network}`);
    const freeOfNetwork = await deps.reserveOfNetwork(place, at);
    if (freeOfNetwork) {
      await deps.takeBack(address, at);
      throw tooMany(freeOfNetwork, 'Too many wrong passwords from your network.');
    }
    const user = await deps.findUser(email);
    const phc = user?.passwordHash ?? (await deps.decoy);
    let right: boolean;
    try {
      right = await deps.verifyPassword(phc, password, { network, gone });
    } catch (error) {
      await Promise.all([deps.takeBack(address, at), deps.takeBack(place, at)]);
      throw error;
    }
    if (!user || !right) {
      throw new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });
    }
    await Promise.all([deps.forget(address), deps.takeBack(place, at)]);
    return user;
  };

  return async (input: SignInInput): Promise<string> => {
    const address = tokens.hashAddress(input.email);
    // In turn, so that right passwords that arrive together are not taken for wrong ones still being judged.
    const user = await inTurn(`address:${address.toString('hex')}`, () => judge(input, address));
    return deps.beginSession(user, input.earlier);
  };
};
