import { changePasswordBody } from '@vat/contracts';
import type { PasswordChange, UserCredentials } from '@vat/db';
import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { parse } from '../http/parse.js';
import type { InTurn } from '../turns.js';
import { type SessionCookie, type SessionTokens, sessionOf } from './session.js';
import { SIGN_IN_LIMITS, secondsUntil } from './sign-in.js';

/** How many wrong current passwords one user may give, and the time in which they count: as at sign-in from one site. */
export const PASSWORD_CHANGE_LIMIT = { tries: SIGN_IN_LIMITS.site, windowMs: SIGN_IN_LIMITS.windowMs } as const;

type ChangePasswordDeps = {
  tokens: SessionTokens;
  /** Counts an attempt. Returns `null`, or when the limit is reached, the time of the next attempt. */
  reserve: (key: Uint8Array, now: Date) => Promise<Date | null>;
  forget: (key: Uint8Array) => Promise<void>;
  findUser: (id: string) => Promise<UserCredentials | null>;
  verifyPassword: (phc: string, password: string) => Promise<boolean>;
  hashPassword: (password: string) => Promise<string>;
  /** False when the password is no longer the one that was verified. */
  replace: (change: PasswordChange) => Promise<boolean>;
  inTurn: InTurn;
  /** Milliseconds after which an unused session ends. */
  sessionLifeMs: number;
  now: () => Date;
};

const wrong = (): AppError => {
  const message = 'current_password is not your password';
  return new AppError('BAD_REQUEST', {
    message: `${message}.`,
    extra: { fields: [{ path: 'current_password', message }] },
  });
};

/**
 * Changes a user's password, ends all sessions of the user, and returns the token of a new one. A wrong current password is
 * BAD_REQUEST, not 401, since the session is valid. Wrong passwords are counted with the limits of sign-in but separately: an
 * attack on the e-mail address does not prevent its owner from changing the password, and a stolen session has five attempts.
 */
export const changePassword =
  ({ tokens, inTurn, now, ...deps }: ChangePasswordDeps) =>
  async (input: { userId: string; current: string; wanted: string }): Promise<string> => {
    const { userId } = input;
    // U+0000 cannot be part of an e-mail address, so this key differs from those of addresses.
    const key = tokens.hashAddress(`\0password of\0${userId}`);
    return inTurn(`password of ${userId}`, async () => {
      const at = now();
      const free = await deps.reserve(key, at);
      if (free) throw new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: secondsUntil(free, at) } });
      const user = await deps.findUser(userId);
      if (!user || !(await deps.verifyPassword(user.passwordHash, input.current))) throw wrong();
      const to = await deps.hashPassword(input.wanted);
      const token = tokens.issue();
      const startedAt = now();
      const session = {
        id: tokens.hash(token),
        userId,
        now: startedAt,
        expiresAt: new Date(startedAt.getTime() + deps.sessionLifeMs),
      };
      if (!(await deps.replace({ userId, from: user.passwordHash, to, session }))) throw wrong();
      await deps.forget(key);
      return token;
    });
  };

export type PasswordRoutesDeps = {
  cookie: SessionCookie;
  changePassword: ReturnType<typeof changePassword>;
  deleteSessionsOfUser: (userId: string) => Promise<void>;
};

/** The routes of /app/api/password and /app/api/sessions: change the password, sign out everywhere. */
export const passwordRoutes = ({ cookie, changePassword, deleteSessionsOfUser }: PasswordRoutesDeps) => {
  const change: RequestHandler = async (req, res) => {
    const { current_password: current, new_password: wanted } = parse(changePasswordBody, req.body);
    cookie.set(res, await changePassword({ userId: sessionOf(res).userId, current, wanted }));
    res.status(204).end();
  };

  const signOutEverywhere: RequestHandler = async (_req, res) => {
    await deleteSessionsOfUser(sessionOf(res).userId);
    cookie.clear(res);
    res.status(204).end();
  };

  return { change, signOutEverywhere };
};
