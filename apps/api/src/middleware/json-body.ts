import { AppError } from '@vat/domain';
import express, { type RequestHandler } from 'express';
import { continueIfAsked } from '../http/continue-if-asked.js';

/** Bytes of a JSON body. Source: contract part 1 §8. */
export const MAX_BODY_BYTES = 64 * 1024;

const read = express.json({ limit: MAX_BODY_BYTES, type: () => true, strict: true });

const refuse = (message: string): never => {
  throw new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] } });
};

/** Reads a JSON object, or throws BAD_REQUEST and says what was wrong with it. */
export const jsonBody: RequestHandler = (req, res, next) => {
  if (!req.is('application/json')) refuse('Send the body as JSON with Content-Type: application/json.');
  // Told by its length alone; the reader would take it in to its end before it says so.
  if (Number(req.headers['content-length']) > MAX_BODY_BYTES) refuse('The body is over 64 KiB.');
  continueIfAsked(req, res);
  read(req, res, (error?: unknown) => {
    if (error === undefined) return next();
    const type = (error as { type?: unknown }).type;
    const message =
      type === 'entity.too.large'
        ? 'The body is over 64 KiB.'
        : type === 'entity.parse.failed'
          ? 'The body is not well-formed JSON.'
          : 'The body cannot be read.';
    next(new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] }, cause: error }));
  });
};
