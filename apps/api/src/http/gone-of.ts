import type { Response } from 'express';

/** Aborts when the caller leaves before its answer is complete. */
export const goneOf = (res: Response): AbortSignal => {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  res.once('close', () => gone.abort());
  return gone.signal;
};
