import { presentSession, signInBody } from '@vat/contracts';
import type { SignedIn } from '@vat/db';
import type { RequestHandler } from 'express';
import { goneOf } from '../http/connection.js';
import { parse } from '../http/parse.js';
import { clientOf, trustsProxyOf } from './client-network.js';
import { type SessionCookie, type SessionTokens, sessionOf } from './session.js';
import type { SignInInput } from './sign-in.js';

export type SessionRoutesDeps = {
  cookie: SessionCookie;
  tokens: SessionTokens;
  signIn: (input: SignInInput) => Promise<string>;
  findSession: (id: Uint8Array, now: Date) => Promise<SignedIn | null>;
  deleteSession: (id: Uint8Array) => Promise<void>;
  now: () => Date;
};

/** The routes of /app/api/session: sign in, read the session, sign out. */
export const sessionRoutes = ({ cookie, tokens, ...deps }: SessionRoutesDeps) => {
  const create: RequestHandler = async (req, res) => {
    const { email, password } = parse(signInBody, req.body);
    const token = await deps.signIn({
      email,
      password,
      earlier: cookie.read(req),
      client: clientOf(req, trustsProxyOf(req.app)),
      gone: goneOf(res),
    });
    const session = await deps.findSession(tokens.hash(token), deps.now());
    if (!session) throw new Error('the new session was not found');
    cookie.set(res, token);
    res.json(presentSession(session, tokens.csrfOf(token)));
  };

  const show: RequestHandler = (_req, res) => {
    const session = sessionOf(res);
    res.json(presentSession(session, tokens.csrfOf(session.token)));
  };

  const end: RequestHandler = async (_req, res) => {
    await deps.deleteSession(tokens.hash(sessionOf(res).token));
    cookie.clear(res);
    res.status(204).end();
  };

  return { create, show, end };
};
