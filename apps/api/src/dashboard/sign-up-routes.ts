import { presentSession, signUpBody } from '@vat/contracts';
import type { SignedIn } from '@vat/db';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/context.js';
import { parse } from '../http/parse.js';
import { networksOf } from './network-of.js';
import type { SessionCookie } from './session-cookie.js';
import type { SessionTokens } from './session-tokens.js';
import type { signUp } from './sign-up.js';

export type SignUpRoutesDeps = {
  /** Whether people may open accounts themselves. */
  signup: 'open' | 'closed';
  cookie: SessionCookie;
  tokens: SessionTokens;
  signUp: ReturnType<typeof signUp>;
  findSession: (id: Uint8Array, now: Date) => Promise<SignedIn | null>;
  now: () => Date;
};

/** What a visitor may ask: whether accounts can be opened here, and to open one. */
export const signUpRoutes = ({ signup, cookie, tokens, findSession, now, ...deps }: SignUpRoutesDeps) => {
  const config: RequestHandler = (_req, res) => {
    const { session } = contextOf(res);
    res.json({ signup, session: session ? presentSession(session, tokens.csrfOf(session.token)) : null });
  };

  const create: RequestHandler = async (req, res) => {
    const body = parse(signUpBody, req.body);
    const signedUp = await deps.signUp(body, networksOf(req.ip ?? ''), cookie.read(req));
    const session = await findSession(tokens.hash(signedUp.token), now());
    if (!session) throw new Error('a session was gone as soon as it was made');
    cookie.set(res, signedUp.token);
    const presented = presentSession(session, tokens.csrfOf(signedUp.token));
    res.status(201).json({ ...presented, live_key: signedUp.liveKey, test_key: signedUp.testKey });
  };

  return { config, create };
};
