import type { UserCredentials } from '@vat/db';
import { AppError } from '@vat/domain';
import type { OneAtATime } from '../one-at-a-time.js';
import type { beginSession } from './begin-session.js';
import { secondsUntil } from './seconds-until.js';
import type { SessionTokens } from './session-tokens.js';

/** Wrong tries an address has, and the time in which they count. Source: contract part 2 §9 ("a handful"). */
export const SIGN_IN_LIMIT = { tries: 5, windowMs: 15 * 60_000 } as const;

export type SignInDeps = {
  tokens: SessionTokens;
  /** `null` when the password may be judged, else when the next one may. */
  reserve: (address: Uint8Array, now: Date) => Promise<Date | null>;
  forget: (address: Uint8Array) => Promise<void>;
  findUser: (email: string) => Promise<UserCredentials | null>;
  verifyPassword: (phc: string, password: string) => Promise<boolean>;
  beginSession: ReturnType<typeof beginSession>;
  inTurn: OneAtATime;
  /** A hash of no password, made like the real ones. */
  decoy: Promise<string>;
  now: () => Date;
};

/**
 * Judges an address and a password and begins a session; returns its token. Throws UNAUTHORIZED, the same and after the
 * same work for an unknown address as for a wrong password, or TOO_MANY_SIGN_INS before any of that work. `earlier`: the
 * token the browser came with, whose session ends.
 */
export const signIn = (deps: SignInDeps) => {
  const { tokens, inTurn, now } = deps;
  const judge = async (email: string, password: string, address: Buffer): Promise<UserCredentials> => {
    const at = now();
    const free = await deps.reserve(address, at);
    if (free) throw new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: secondsUntil(free, at) } });
    const user = await deps.findUser(email);
    const phc = user?.passwordHash ?? (await deps.decoy);
    const right = await deps.verifyPassword(phc, password);
    if (!user || !right) {
      throw new AppError('UNAUTHORIZED', { message: 'The e-mail address or the password is wrong.' });
    }
    await deps.forget(address);
    return user;
  };

  return async (input: { email: string; password: string; earlier: string | null }): Promise<string> => {
    const address = tokens.hashAddress(input.email);
    // In turn, so that right passwords that arrive together are not taken for wrong ones still being judged.
    const user = await inTurn(`address:${address.toString('hex')}`, () => judge(input.email, input.password, address));
    return deps.beginSession(user, input.earlier);
  };
};
