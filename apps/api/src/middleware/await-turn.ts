import type { RequestHandler } from 'express';

/**
 * Begins a call that was sent behind another on the same connection only when that one has been answered. Answers go out
 * in order anyway, and Node tells one that waits for its connection neither that the client has left nor that it does not
 * read: a stream, an export or a download begun behind another answer would be held for as long as the process lives.
 */
export const awaitTurn: RequestHandler = (_req, res, next) => {
  if (res.socket) return next();
  res.once('socket', () => next());
};
