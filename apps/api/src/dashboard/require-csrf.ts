import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { sessionOf } from './session-of.js';
import type { SessionTokens } from './session-tokens.js';

/** Refuses with FORBIDDEN a call without the CSRF token of its own session. Runs after `requireSession`. */
export const requireCsrf =
  (tokens: SessionTokens): RequestHandler =>
  (req, res, next) => {
    const given = req.get('x-csrf-token');
    if (given === undefined || !tokens.isCsrfOf(sessionOf(res).token, given)) throw new AppError('FORBIDDEN');
    next();
  };
