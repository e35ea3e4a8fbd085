import { changePasswordBody } from '@vat/contracts';
import type { PasswordChange, UserCredentials } from '@vat/db';
import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { parse } from '../http/parse.js';
import type { InTurn } from '../turns.js';
import { type SessionCookie, type SessionTokens, sessionOf } from './session.js';
import { SIGN_IN_LIMITS, secondsUntil } from './sign-in.js';

/** Wrong current passwords of one user, and the time in which they count: as many as an address has from one site. */
export const PASSWORD_CHANGE_LIMIT = { tries: SIGN_IN_LIMITS.site, windowMs: SIGN_IN_LIMITS.windowMs } as const;

type ChangePasswordDeps = {
  tokens: SessionTokens;
  /** `null` when a password may be judged, else when the next one may. */
  reserve: (key: Uint8Array, now: Date) => Promise<Date | null>;
  forget: (key: Uint8Array) => Promise<void>;
  findUser: (id: string) => Promise<UserCredentials | null>;
  verifyPassword: (phc: string, password: string) => Promise<boolean>;
  hashPassword: (password: string) => Promise<string>;
  /** False when the password is no longer the one that was judged. */
  replace: (change: PasswordChange) => Promise<boolean>;
  inTurn: InTurn;
  /** Milliseconds until a session that is not used ends. */
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
 * Changes a user's password and ends all sessions of the user; returns the token of the one that goes on. A wrong current
 * password is BAD_REQUEST, not 401: the session is good. Wrong ones count as at sign-in, but apart from it, so that
 * strangers who try the address keep nobody from changing a password, and a stolen session has five guesses.
 */
export const changePassword =
  ({ tokens, inTurn, now, ...deps }: ChangePasswordDeps) =>
  async (input: { userId: string; current: string; wanted: string }): Promise<string> => {
    const { userId } = input;
    // No address that can be typed has U+0000 in it.
    const key = tokens.hashAddress(`\0password of\0${userId}`);
    return inTurn(`password of ${userId}`, async () => {
      const at = now();
      const free = await deps.reserve(key, at);
      if (free) throw new AppError('TOO_MANY_SIGN_INS', { extra: { retry_after: secondsUntil(free, at) } });
      const user = await deps.findUser(userId);
      if (!user || !(await deps.verifyPassword(user.passwordHash, input.current))) throw wrong();
      const to = await deps.hashPassword(input.wanted);
      const token = tokens.issue();
      const begun = now();
      const session = {
        id: tokens.hash(token),
        userId,
        now: begun,
        expiresAt: new Date(begun.getTime() + deps.sessionLifeMs),
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
