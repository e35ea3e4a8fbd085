import { changePasswordBody } from '@vat/contracts';
import type { RequestHandler } from 'express';
import { parse } from '../http/parse.js';
import type { changePassword } from './change-password.js';
import type { SessionCookie } from './session-cookie.js';
import { sessionOf } from './session-of.js';

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
