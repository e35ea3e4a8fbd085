import { presentSession, type SignUpBody, signUpBody } from '@vat/contracts';
import type { RefusedTries, SignedIn, TryLimit, UserCredentials } from '@vat/db';
import { AppError, type createAccount } from '@vat/domain';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/call.js';
import { parse } from '../http/parse.js';
import type { ShortMemory } from '../short-memory.js';
import { type Networks, networksOf } from './client-network.js';
import type { SessionCookie, SessionTokens } from './session.js';
import { type beginSession, secondsUntil } from './sign-in.js';

/**
 * How many accounts may be opened per window: from one network, from one site (a /48 of IPv6), and in total, so that an attack
 * from many networks cannot fill the disk.
 */
export const SIGN_UP_LIMITS = { windowMs: 60 * 60_000, network: 10, site: 50, all: 300 } as const;

type SignUpDeps = {
  tokens: SessionTokens;
  /** Counts an account. When a limit is reached, counts nothing and returns the limits that refuse it. */
  reserve: (limits: readonly TryLimit[], now: Date) => Promise<RefusedTries[]>;
  /** Cached refusals: until when a limit refuses accounts. */
  refusals: ShortMemory<Date>;
  createAccount: ReturnType<typeof createAccount>;
  findUser: (email: string) => Promise<UserCredentials | null>;
  beginSession: ReturnType<typeof beginSession>;
  now: () => Date;
};

/** A new account. The keys are shown once. `token`: that of the new session. */
type SignedUp = { token: string; liveKey: string; testKey: string };

/**
 * Opens an account on the free plan and begins a session. Throws TOO_MANY_SIGN_UPS before any work, or EMAIL_TAKEN after the
 * same work as for an available address (docs/decisions/0019-signing-up-and-news.md). `networks`: the origin of the call.
 */
export const signUp =
  ({ tokens, now, ...deps }: SignUpDeps) =>
  async (input: SignUpBody, networks: Networks, earlier: string | null): Promise<SignedUp> => {
    const at = now();
    const { narrow, site } = networks;
    const refuse = (until: Date): never => {
      throw new AppError('TOO_MANY_SIGN_UPS', { extra: { retry_after: secondsUntil(until, at) } });
    };
    // Networks are stored as HMACs, like e-mail addresses at sign-in. An IPv4 address is both a network and a site.
    const limits = [
      { key: tokens.hashAddress(`\0sign-up from\0${narrow}`), tries: SIGN_UP_LIMITS.network },
      { key: tokens.hashAddress(`\0sign-up from site\0${site}`), tries: SIGN_UP_LIMITS.site },
      { key: tokens.hashAddress('\0sign-up\0'), tries: SIGN_UP_LIMITS.all },
    ];
    for (const { key } of limits) {
      const free = deps.refusals.find(key.toString('hex'), at);
      if (free) refuse(free);
    }
    const refused = await deps.reserve(limits, at);
    for (const { key, free } of refused) deps.refusals.set(key.toString('hex'), free, at);
    if (refused.length > 0) refuse(new Date(Math.max(...refused.map(({ free }) => free.getTime()))));
    const created = await deps.createAccount({ ...input, plan: 'free', quota: null });
    if (!created) throw new AppError('EMAIL_TAKEN');
    const user = await deps.findUser(input.email);
    if (!user) throw new Error('the new user was not found');
    const token = await deps.beginSession(user, earlier);
    return { token, liveKey: created.liveKey, testKey: created.testKey };
  };

export type SignUpRoutesDeps = {
  /** Whether visitors may open accounts. */
  signup: 'open' | 'closed';
  cookie: SessionCookie;
  tokens: SessionTokens;
  signUp: ReturnType<typeof signUp>;
  findSession: (id: Uint8Array, now: Date) => Promise<SignedIn | null>;
  now: () => Date;
};

/** The routes of visitors: /app/api/config and /app/api/sign-up. */
export const signUpRoutes = ({ signup, cookie, tokens, findSession, now, ...deps }: SignUpRoutesDeps) => {
  const config: RequestHandler = (_req, res) => {
    const { session } = contextOf(res);
    res.json({ signup, session: session ? presentSession(session, tokens.csrfOf(session.token)) : null });
  };

  const create: RequestHandler = async (req, res) => {
    const body = parse(signUpBody, req.body);
    const signedUp = await deps.signUp(body, networksOf(req.ip ?? ''), cookie.read(req));
    const session = await findSession(tokens.hash(signedUp.token), now());
    if (!session) throw new Error('the new session was not found');
    cookie.set(res, signedUp.token);
    const presented = presentSession(session, tokens.csrfOf(signedUp.token));
    res.status(201).json({ ...presented, live_key: signedUp.liveKey, test_key: signedUp.testKey });
  };

  return { config, create };
};
