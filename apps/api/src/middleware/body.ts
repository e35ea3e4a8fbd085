import { emptyBody } from '@vat/contracts';
import { AppError } from '@vat/domain';
import express, { type RequestHandler } from 'express';
import { continueIfAsked } from '../http/connection.js';
import { parse } from '../http/parse.js';

/** Bytes of a JSON body. Source: contract part 1 §8. */
const MAX_BODY_BYTES = 64 * 1024;

/** A BAD_REQUEST about the body as a whole. */
const refuseBody = (message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] }, cause });

const MESSAGES: Readonly<Record<string, string>> = {
  'entity.too.large': 'The body is over 64 KiB.',
  'entity.parse.failed': 'The body is not well-formed JSON.',
};

/** Lets one of Express's readers, limited to {@link MAX_BODY_BYTES}, read the body; what stops it is BAD_REQUEST. */
const readBody =
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

// Not strict: whether JSON is an object is its schema's to say, and `null` is well-formed.
const read = readBody(express.json({ limit: MAX_BODY_BYTES, type: () => true, strict: false }));

/** Reads a body of JSON, or throws BAD_REQUEST and says what was wrong with it. */
export const jsonBody: RequestHandler = (req, res, next) => {
  if (!req.is('application/json')) {
    return next(refuseBody('Send the body as JSON with Content-Type: application/json.'));
  }
  return read(req, res, next);
};

const readBytes = readBody(express.raw({ limit: MAX_BODY_BYTES, type: () => true }));

/** Sent in chunks, a body is known to be empty only once it has been read. Whatever type is claimed for it then says nothing. */
const readIfSent: RequestHandler = (req, res, next) => {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers;
  if (coding === undefined && Number(length) === 0) return next();
  if (coding === undefined || req.is('application/json')) return jsonBody(req, res, next);
  return readBytes(req, res, (error?: unknown) => {
    if (error !== undefined) return next(error);
    if ((req.body as Buffer).length > 0) return jsonBody(req, res, next);
    req.body = undefined;
    next();
  });
};

/** For a POST that takes no body: none and `{}` are the same, any other is BAD_REQUEST. */
export const noBody: RequestHandler[] = [
  readIfSent,
  (req, _res, next) => {
    parse(emptyBody, req.body === undefined ? {} : req.body);
    next();
  },
];
