import { presentError } from '@vat/contracts';
import { AppError } from '@vat/domain';
import { errorFields } from '@vat/runtime';
import type { ErrorRequestHandler } from 'express';
import { CallerGone } from '../http/caller-gone.js';
import { contextOf } from '../http/context.js';
import { dropRestOfBody } from '../http/drop-rest-of-body.js';

/** Express's own refusals (a path that is no valid URI) carry a status below 500: there is nothing at such a path. */
const isClientFault = (error: unknown): boolean => {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500;
};

/** Turns whatever was thrown into the envelope. What is not an {@link AppError} becomes INTERNAL and leaks nothing. */
export const sendError: ErrorRequestHandler = (error: unknown, req, res, next) => {
  if (error instanceof CallerGone && res.destroyed) return;
  const refusal =
    error instanceof AppError ? error : new AppError(isClientFault(error) ? 'NOT_FOUND' : 'INTERNAL', { cause: error });
  if (refusal.code === 'INTERNAL') contextOf(res).log.error('A request failed on our side.', errorFields(error));
  if (res.headersSent) return next(error);
  const retryAfter = refusal.extra.retry_after;
  if (typeof retryAfter === 'number') res.setHeader('Retry-After', String(retryAfter));
  dropRestOfBody(req, res);
  res.status(refusal.spec.status).json(presentError(refusal));
};
