import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SignedIn } from '@vat/db';
import { AppError } from '@vat/domain';
import type { Request, RequestHandler, Response } from 'express';
import { contextOf, type DashboardSession } from '../http/call.js';

/** The cookie that carries a session's token. */
export type SessionCookie = {
  /** The token a browser sent; `null` when it sent none, or something that is none of ours. */
  read: (req: Request) => string | null;
  set: (res: Response, token: string) => void;
  clear: (res: Response) => void;
};

/**
 * Over https the cookie is `__Host-` and Secure: no neighbouring host and no plain connection can set or read it. Over
 * http browsers would refuse both. `baseUrl` is asked late: the port is known only once it is bound.
 */
export const sessionCookie = (baseUrl: () => string, maxAgeMs: number): SessionCookie => {
  const isSecure = () => baseUrl().startsWith('https:');
  const name = () => (isSecure() ? '__Host-vat_session' : 'vat_session');
  const attributes = () => ({ httpOnly: true, sameSite: 'lax', path: '/', secure: isSecure() }) as const;
  return {
    read: (req) => {
      const token = new RegExp(`(?:^|;) *${name()}=([A-Za-z0-9_-]{43}) *(?:;|$)`).exec(req.get('cookie') ?? '')?.[1];
      return token ?? null;
    },
    set: (res, token) => void res.cookie(name(), token, { ...attributes(), maxAge: maxAgeMs }),
    clear: (res) => void res.clearCookie(name(), attributes()),
  };
};

/** The session of a call; a route that asks for one without `requireSession` before it is a fault of ours. */
export const sessionOf = (res: Response): DashboardSession => {
  const { session } = contextOf(res);
  if (!session) throw new Error('a route without a session asked for it');
  return session;
};

/** What sessions are recognised by. Each kind of value has a key of its own, derived from SECRET_KEY. */
export type SessionTokens = {
  /** A new session's token: 32 random bytes, base64url. It is in the cookie and nowhere else. */
  issue: () => string;
  /** The only form in which a token is stored: SHA-256. */
  hash: (token: string) => Buffer;
  /** The CSRF token of a session. Derived from the session's own, so that it can be shown again and never mixed up. */
  csrfOf: (token: string) => string;
  isCsrfOf: (token: string, given: string) => boolean;
  /** The form in which an address with wrong sign-ins is stored. */
  hashAddress: (email: string) => Buffer;
};

/**
 * Derives the keys by HKDF-SHA-256 under labels of their own, as webhook secrets do. Sessions do not depend on the key; CSRF
 * tokens of `previousKey` are accepted, so that pages which are open while SECRET_KEY is changed go on working.
 */
export const sessionTokens = (masterKey: string, previousKey?: string): SessionTokens => {
  const derive = (label: string, key = masterKey) => Buffer.from(hkdfSync('sha256', key, '', label, 32));
  const csrfKeys = [masterKey, ...(previousKey === undefined ? [] : [previousKey])].map((key) =>
    derive('vat dashboard csrf token: key 1', key),
  );
  const addressKey = derive('vat dashboard sign-in address: key 1');
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const tokensOf = (token: string) =>
    csrfKeys.map((key) => createHmac('sha256', key).update(token).digest('base64url'));
  return {
    issue: () => randomBytes(32).toString('base64url'),
    hash,
    csrfOf: (token) => String(tokensOf(token)[0]),
    // Hashed first, since what is compared in constant time must be of one length.
    isCsrfOf: (token, given) => tokensOf(token).some((known) => timingSafeEqual(hash(known), hash(given))),
    hashAddress: (email) => createHmac('sha256', addressKey).update(email).digest(),
  };
};

export type RequireSessionDeps = {
  cookie: SessionCookie;
  tokens: SessionTokens;
  findSession: (id: Uint8Array, now: Date) => Promise<SignedIn | null>;
  now: () => Date;
};

/** Finds the session of the request's cookie, if there is one; a visitor passes too. */
export const findOwnSession =
  ({ cookie, tokens, findSession, now }: RequireSessionDeps): RequestHandler =>
  async (req, res, next) => {
    const token = cookie.read(req);
    const signedIn = token === null ? null : await findSession(tokens.hash(token), now());
    if (token !== null && signedIn) contextOf(res).session = { ...signedIn, token };
    next();
  };

/**
 * Finds who is signed in by the session cookie, or throws UNAUTHORIZED. An API key is no session: it must never change an
 * account's settings (contract part 1 §4). Asked of the database every time, so that signing out ends it everywhere at once.
 */
export const requireSession = (deps: RequireSessionDeps): RequestHandler => {
  const find = findOwnSession(deps);
  return (req, res, next) =>
    find(req, res, (error?: unknown) => {
      const isVisitor = error === undefined && !contextOf(res).session;
      next(isVisitor ? new AppError('UNAUTHORIZED', { message: 'Sign in first.' }) : error);
    });
};

/** Refuses with FORBIDDEN a call without the CSRF token of its own session. Runs after `requireSession`. */
export const requireCsrf =
  (tokens: SessionTokens): RequestHandler =>
  (req, res, next) => {
    const given = req.get('x-csrf-token');
    if (given === undefined || !tokens.isCsrfOf(sessionOf(res).token, given)) throw new AppError('FORBIDDEN');
    next();
  };

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

/**
 * Refuses with FORBIDDEN what a browser sends from a page of another site, such as a sign-in that would put its victim
 * into the attacker's account. Behind a proxy that changes Host, BASE_URL is how the service is known. A caller without
 * Origin is no browser.
 */
export const requireSameOrigin =
  (baseUrl: () => string): RequestHandler =>
  (req, _res, next) => {
    const origin = req.get('origin');
    if (origin !== undefined) {
      const host = hostOf(origin);
      if (host === null || (host !== req.get('host') && host !== hostOf(baseUrl()))) {
        throw new AppError('FORBIDDEN', { message: 'The call comes from a page of another site.' });
      }
    }
    next();
  };

/** Lets the person who is signed in use the routes of the public API with live effect. Runs after `requireSession`. */
export const callAsCustomer: RequestHandler = (_req, res, next) => {
  const { accountId, disabled, plan, quota, userId } = sessionOf(res);
  contextOf(res).caller = { keyId: userId, accountId, plan, test: false, quota, disabled };
  next();
};
