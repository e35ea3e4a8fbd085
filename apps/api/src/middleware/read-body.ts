import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';
import { continueIfAsked } from '../http/continue-if-asked.js';

/** Bytes of a JSON body. Source: contract part 1 §8. */
export const MAX_BODY_BYTES = 64 * 1024;

/** A BAD_REQUEST about the body as a whole. */
export const refuseBody = (message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] }, cause });

const MESSAGES: Readonly<Record<string, string>> = {
  'entity.too.large': 'The body is over 64 KiB.',
  'entity.parse.failed': 'The body is not well-formed JSON.',
};

/** Lets one of Express's readers, limited to {@link MAX_BODY_BYTES}, read the body; what stops it is BAD_REQUEST. */
export const readBody =
  (reader: RequestHandler): RequestHandler =>
  (req, res, next) => {
    // Told by its length alone; the reader would take it in to its end before it says so.
    if (Number(req.headers['content-length']) > MAX_BODY_BYTES) {
      return next(refuseBody('The body is over 64 KiB.'));
    }
    continueIfAsked(req, res);
    return reader(req, res, (error?: unknown) => {
      if (error === undefined) return next();
      const type = String((error as { type?: unknown }).type);
      next(refuseBody(MESSAGES[type] ?? 'The body cannot be read.', error));
    });
  };
