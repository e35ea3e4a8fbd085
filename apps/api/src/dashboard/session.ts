import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Caller, SignedIn } from '@vat/db';
import { type Access, AppError, refusedByRole, roleAllows, type SessionSecrets } from '@vat/domain';
import type { Request, RequestHandler, Response } from 'express';
import { contextOf, type DashboardSession } from '../http/call.js';

/** The cookie that carries a session's token. */
export type SessionCookie = {
  /** The token that a browser sent; `null` without a well-formed one. */
  read: (req: Request) => string | null;
  set: (res: Response, token: string) => void;
  clear: (res: Response) => void;
};

/**
 * With an https base URL the cookie has the prefix `__Host-` and is Secure: neither a sibling host nor an unencrypted connection
 * can set or read it. Over http browsers would refuse both. `baseUrl` is called only once the server listens.
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

/** The session of a call. Throws when `requireSession` did not run before the route, which is a programming error. */
export const sessionOf = (res: Response): DashboardSession => {
  const { session } = contextOf(res);
  if (!session) throw new Error('the route has no session: requireSession did not run before it');
  return session;
};

/** Issues and verifies the tokens of sessions. Each kind of value has its own key, derived from SECRET_KEY. */
export type SessionTokens = SessionSecrets & {
  /** The CSRF token of a session. It is derived from the session's token, so it need not be stored and fits no other session. */
  csrfOf: (token: string) => string;
  isCsrfOf: (token: string, given: string) => boolean;
};

/**
 * Derives the keys with HKDF-SHA-256 under separate labels. Sessions do not depend on the key. CSRF tokens of `previousKey` are
 * accepted, so that open pages continue to work when SECRET_KEY changes.
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
    // Hashed to the same length, so that they can be compared in constant time.
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

/** The session of the request's cookie; `null` without one. */
const readSession = async (
  { cookie, tokens, findSession, now }: RequireSessionDeps,
  req: Request,
): Promise<DashboardSession | null> => {
  const token = cookie.read(req);
  const signedIn = token === null ? null : await findSession(tokens.hash(token), now());
  return token !== null && signedIn ? { ...signedIn, token } : null;
};

/** Throws UNAUTHORIZED without a session. */
const getSession = async (deps: RequireSessionDeps, req: Request): Promise<DashboardSession> => {
  const session = await readSession(deps, req);
  if (!session) throw new AppError('UNAUTHORIZED', { message: 'Sign in first.' });
  return session;
};

/** Finds the session of the request's cookie. A request without a session passes too. */
export const findOwnSession =
  (deps: RequireSessionDeps): RequestHandler =>
  async (req, res, next) => {
    const session = await readSession(deps, req);
    if (session) contextOf(res).session = session;
    next();
  };

/**
 * Requires a session, or throws UNAUTHORIZED. An API key is not a session: it must never change an account's settings. The
 * session is read from the database for each request, so that signing out takes effect on all processes at once.
 */
export const requireSession =
  (deps: RequireSessionDeps): RequestHandler =>
  async (req, res, next) => {
    contextOf(res).session = await getSession(deps, req);
    next();
  };

/** Requires the CSRF token of the session, or throws FORBIDDEN. Runs after `requireSession`. */
export const requireCsrf =
  (tokens: SessionTokens): RequestHandler =>
  (req, res, next) => {
    const given = req.get('x-csrf-token');
    if (given === undefined || !tokens.isCsrfOf(sessionOf(res).token, given))
      throw new AppError('FORBIDDEN', { message: 'The CSRF token is missing or wrong.' });
    next();
  };

/** Throws FORBIDDEN unless the role of the session allows such calls. */
const verifyRole = ({ role }: Pick<DashboardSession, 'role'>, access: Access): void => {
  if (!roleAllows(role, access)) throw refusedByRole(role);
};

/** Requires a role that allows such calls, or throws FORBIDDEN. The role was read with the session of this call. */
export const requireRole =
  (access: Access): RequestHandler =>
  (_req, res, next) => {
    verifyRole(sessionOf(res), access);
    next();
  };

/** The session as of now, for a call that takes long. Throws UNAUTHORIZED, or FORBIDDEN for a role that does not allow such calls. */
export const sessionAgain = async (
  deps: RequireSessionDeps,
  req: Request,
  access: Access,
): Promise<DashboardSession> => {
  const session = await getSession(deps, req);
  verifyRole(session, access);
  return session;
};

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null);

/**
 * Throws FORBIDDEN for a request that a browser sends from a page of another site, such as a sign-in that would sign the victim
 * in to the attacker's account. Behind a proxy that changes Host, the origin is compared with BASE_URL. A request without
 * Origin does not come from a browser.
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

const callerOfSession = ({ accountId, disabled, plan, quota, userId }: DashboardSession): Caller => ({
  keyId: userId,
  accountId,
  plan,
  test: false,
  quota,
  disabled,
});

/** Makes the signed-in user the caller of routes of the public API, in live mode. Runs after `requireRole`. */
export const callAsCustomer =
  (deps: RequireSessionDeps, access: Access): RequestHandler =>
  (req, res, next) => {
    const context = contextOf(res);
    context.caller = callerOfSession(sessionOf(res));
    context.findCaller = async () => callerOfSession(await sessionAgain(deps, req, access));
    next();
  };
