import { acceptInvitationBody, changePasswordBody, presentSession, signInBody, signUpBody } from '@vat/contracts';
import type { SignedIn } from '@vat/db';
import type { acceptInvitation, changePassword, SignInInput, signUp } from '@vat/domain';
import type { RequestHandler, Response } from 'express';
import { contextOf } from '../http/call.js';
import { clientOf, networksOf, trustsProxyOf } from '../http/client-network.js';
import { goneOf } from '../http/connection.js';
import { parse } from '../http/parse.js';
import { type SessionCookie, type SessionTokens, sessionOf } from './session.js';

export type SessionRoutesDeps = {
  /** Whether visitors may open accounts. */
  signup: 'open' | 'closed';
  /** Whether checks have public links. */
  publicVerification: boolean;
  /** Maximum calls of one API key in any second. */
  keyRateLimit: number;
  cookie: SessionCookie;
  tokens: SessionTokens;
  signIn: (input: SignInInput) => Promise<string>;
  signUp: ReturnType<typeof signUp>;
  acceptInvitation: ReturnType<typeof acceptInvitation>;
  changePassword: ReturnType<typeof changePassword>;
  findSession: (id: Uint8Array, now: Date) => Promise<SignedIn | null>;
  deleteSession: (id: Uint8Array) => Promise<void>;
  deleteSessionsOfUser: (userId: string) => Promise<void>;
  now: () => Date;
};

/**
 * The routes with which sessions begin and end: /app/api/session, /app/api/sessions, /app/api/password, and those of visitors,
 * /app/api/config, /app/api/sign-up and /app/api/invitation/accept.
 */
export const sessionRoutes = ({
  signup,
  publicVerification,
  keyRateLimit,
  cookie,
  tokens,
  ...deps
}: SessionRoutesDeps) => {
  const present = (session: SignedIn, token: string) => presentSession(session, tokens.csrfOf(token));

  /** Sets the cookie of a new session and returns what the page shows of it. */
  const begin = async (res: Response, token: string) => {
    const session = await deps.findSession(tokens.hash(token), deps.now());
    if (!session) throw new Error('the new session was not found');
    cookie.set(res, token);
    return present(session, token);
  };

  const signIn: RequestHandler = async (req, res) => {
    const { email, password } = parse(signInBody, req.body);
    const client = clientOf(req, trustsProxyOf(req.app));
    const token = await deps.signIn({ email, password, earlier: cookie.read(req), client, gone: goneOf(res) });
    res.json(await begin(res, token));
  };

  const show: RequestHandler = (_req, res) => {
    const session = sessionOf(res);
    res.json(present(session, session.token));
  };

  const signOut: RequestHandler = async (_req, res) => {
    await deps.deleteSession(tokens.hash(sessionOf(res).token));
    cookie.clear(res);
    res.status(204).end();
  };

  const signOutEverywhere: RequestHandler = async (_req, res) => {
    await deps.deleteSessionsOfUser(sessionOf(res).userId);
    cookie.clear(res);
    res.status(204).end();
  };

  const changePassword: RequestHandler = async (req, res) => {
    const { current_password: current, new_password: wanted } = parse(changePasswordBody, req.body);
    const { accountId, userId } = sessionOf(res);
    cookie.set(res, await deps.changePassword({ accountId, userId, current, wanted }));
    res.status(204).end();
  };

  const config: RequestHandler = (_req, res) => {
    const { session } = contextOf(res);
    res.json({
      signup,
      public_verification: publicVerification,
      key_rate_limit: keyRateLimit,
      session: session ? present(session, session.token) : null,
    });
  };

  const signUp: RequestHandler = async (req, res) => {
    const body = parse(signUpBody, req.body);
    const { narrow: network, site } = networksOf(req.ip ?? '');
    const { token, liveKey, testKey } = await deps.signUp({ ...body, network, site, earlier: cookie.read(req) });
    const session = await begin(res, token);
    res.status(201).json({ ...session, live_key: liveKey, test_key: testKey });
  };

  const acceptInvitation: RequestHandler = async (req, res) => {
    const body = parse(acceptInvitationBody, req.body);
    const token = await deps.acceptInvitation({ ...body, earlier: cookie.read(req) });
    res.status(201).json(await begin(res, token));
  };

  return { signIn, show, signOut, signOutEverywhere, changePassword, config, signUp, acceptInvitation };
};
