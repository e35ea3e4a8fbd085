import type { RequestHandler } from 'express';
import { contextOf } from '../http/context.js';
import { sessionOf } from './session-of.js';

/** Lets the person who is signed in use the routes of the public API with live effect. Runs after `requireSession`. */
export const callAsCustomer: RequestHandler = (_req, res, next) => {
  const { accountId, disabled, plan, quota, userId } = sessionOf(res);
  contextOf(res).caller = { keyId: userId, accountId, plan, test: false, quota, disabled };
  next();
};
