import { AppError, badRequest } from '../errors.js';
import { secondsUntil } from './attempts.js';
import type { BeginSessionDeps, NewSession, UserCredentials } from './session.js';
import { SIGN_IN_LIMITS } from './sign-in.js';

/** How many wrong current passwords one user may give, and the time in which they count: as at sign-in from one site. */
export const PASSWORD_CHANGE_LIMIT = { tries: SIGN_IN_LIMITS.site, windowMs: SIGN_IN_LIMITS.windowMs } as const;

/** A password change, as argon2id PHC strings, and the session that replaces all others. */
export type PasswordChange = { userId: string; from: string; to: string; session: Omit<NewSession, 'passwordHash'> };

type ChangePasswordDeps = Omit<BeginSessionDeps, 'insertSession'> & {
  /** Counts an attempt. Returns `null`, or when the limit is reached, the time of the next attempt. */
  reserve: (key: Uint8Array, now: Date) => Promise<Date | null>;
  forget: (key: Uint8Array) => Promise<void>;
  findUser: (id: string) => Promise<UserCredentials | null>;
  verifyPassword: (phc: string, password: string) => Promise<boolean>;
  hashPassword: (password: string) => Promise<string>;
  /** False when the password is no longer the one that was verified. */
  replace: (change: PasswordChange) => Promise<boolean>;
  /** Runs work of the same account one piece at a time: the many users of one must not hold up the sign-ins of others. */
  inTurn: <T>(accountId: string, work: () => Promise<T>) => Promise<T>;
};

type PasswordChangeInput = { accountId: string; userId: string; current: string; wanted: string };

const wrongPassword = (): AppError => badRequest('current_password', 'current_password is not your password');

/**
 * Changes a user's password, ends all sessions of the user, and returns the token of a new one. A wrong current password is
 * BAD_REQUEST, not 401, since the session is valid. Wrong passwords are counted with the limits of sign-in but separately: an
 * attack on the e-mail address does not prevent its owner from changing the password, and a stolen session has five attempts.
 */
export const changePassword =
  ({ tokens, inTurn, sessionLifeMs, now, ...deps }: ChangePasswordDeps) =>
  async ({ accountId, userId, current, wanted }: PasswordChangeInput): Promise<string> => {
    // U+0000 cannot be part of an e-mail address, so this key differs from those of addresses.
    const key = tokens.hashAddress(`\0password of\0${userId}`);
    return inTurn(accountId, async () => {
      const at = now();
      const free = await deps.reserve(key, at);
      if (free) {
        const seconds = secondsUntil(free, at, PASSWORD_CHANGE_LIMIT.windowMs);
        throw new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: seconds } });
      }
      const user = await deps.findUser(userId);
      if (!user || !(await deps.verifyPassword(user.passwordHash, current))) throw wrongPassword();
      const to = await deps.hashPassword(wanted);
      const token = tokens.issue();
      const startedAt = now();
      const expiresAt = new Date(startedAt.getTime() + sessionLifeMs);
      const session = { id: tokens.hash(token), userId, now: startedAt, expiresAt };
      if (!(await deps.replace({ userId, from: user.passwordHash, to, session }))) throw wrongPassword();
      await deps.forget(key);
      return token;
    });
  };
