import type { SignedIn } from '@vat/db';
import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/context.js';
import type { SessionCookie } from './session-cookie.js';
import type { SessionTokens } from './session-tokens.js';

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
