import type { Response } from 'express';
import { contextOf, type DashboardSession } from '../http/context.js';

/** The session of a call; a route that asks for one without `requireSession` before it is a fault of ours. */
export const sessionOf = (res: Response): DashboardSession => {
  const { session } = contextOf(res);
  if (!session) throw new Error('a route without a session asked for it');
  return session;
};
