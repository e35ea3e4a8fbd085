import type { Caller, SignedIn } from '@vat/db';
import { AppError, type Reader } from '@vat/domain';
import type { Logger } from '@vat/runtime';
import type { Request, Response } from 'express';

/** Who is signed in to the dashboard, and the token of the session. */
export type DashboardSession = SignedIn & { token: string };

/** What middleware knows of a request; kept in `res.locals`. */
export type Context = { requestId: string; log: Logger; caller?: Caller; session?: DashboardSession };

/** The context of a response. */
export const contextOf = (res: Response): Context => res.locals as Context;

/** The authenticated caller; a route that asks for one without `authenticate` before it is a fault of ours. */
export const callerOf = (res: Response): Caller => {
  const { caller } = contextOf(res);
  if (!caller) throw new Error('a route without authentication asked for its caller');
  return caller;
};

/** Whose rows the caller may read. */
export const readerOf = (res: Response): Reader => {
  const { accountId, test } = callerOf(res);
  return { accountId, testOnly: test };
};

const KEY_FORM = /^[\x20-\x7e]{1,255}$/;

/**
 * The Idempotency-Key as it is kept, `null` without one; throws BAD_REQUEST when it is not 1 to 255 printable characters.
 * Test and live calls of an account are kept apart: a live call must never be answered with what the sandbox said.
 */
export const idempotencyKeyOf = (req: Request, caller: Pick<Caller, 'test'>): string | null => {
  const key = req.get('idempotency-key');
  if (key === undefined) return null;
  if (KEY_FORM.test(key)) return `${caller.test ? 'test' : 'live'}:${key}`;
  const message = 'Idempotency-Key is 1 to 255 printable ASCII characters';
  throw new AppError('BAD_REQUEST', {
    message: `${message}.`,
    extra: { fields: [{ path: 'Idempotency-Key', message }] },
  });
};
