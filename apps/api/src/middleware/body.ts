import { isUtf8 } from 'node:buffer';
import { emptyBody } from '@vat/contracts';
import { AppError } from '@vat/domain';
import { parse as parseContentType } from 'content-type';
import express, { type RequestHandler } from 'express';
import { continueIfAsked } from '../http/connection.js';
import { parse } from '../http/parse.js';

/** Bytes of a JSON body, see docs/api.md. */
const MAX_BODY_BYTES = 64 * 1024;

/** A BAD_REQUEST about the body as a whole. */
const refuseBody = (message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] }, cause });

const MESSAGES: Readonly<Record<string, string>> = {
  'entity.too.large': 'The body is over 64 KiB.',
  'entity.empty': 'The body is empty: send a JSON object.',
  'entity.parse.failed': 'The body is not well-formed JSON.',
  'entity.verify.failed': 'The body is not UTF-8.',
  'encoding.unsupported': 'The Content-Encoding is not supported: send the body uncompressed or with gzip.',
};

const tooLarge = () => refuseBody('The body is over 64 KiB.');

/** Wraps a body parser of Express, limited to {@link MAX_BODY_BYTES}; its errors become BAD_REQUEST. */
const readBody =
  (reader: RequestHandler): RequestHandler =>
  (req, res, next) => {
    // Refused before the rest arrives, declared or counted; the parser would read the whole body before it refuses it.
    const declared = req.headers['content-length'];
    if (Number(declared) > MAX_BODY_BYTES) return next(tooLarge());
    let received = 0;
    const count = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > MAX_BODY_BYTES) end(tooLarge());
    };
    let isEnded = false;
    const end = (error?: unknown): void => {
      req.off('data', count);
      if (isEnded) return;
      isEnded = true;
      next(error);
    };
    continueIfAsked(req, res);
    if (declared === undefined) req.on('data', count);
    return reader(req, res, (error?: unknown) => {
      if (error === undefined) return end();
      const type = String((error as { type?: unknown }).type);
      end(refuseBody(MESSAGES[type] ?? 'The body cannot be read.', error));
    });
  };

/** A decoder would replace what is not UTF-8, and a check would prove a text that nobody sent. */
const verifyEncoding = (_req: unknown, _res: unknown, bytes: Buffer): void => {
  if (!isUtf8(bytes)) throw new Error('not UTF-8');
};

/** The parser reads an empty body as `{}`: a change whose body was lost would be answered as if it had been made. */
const verifyNotEmpty: typeof verifyEncoding = (req, res, bytes) => {
  if (bytes.length === 0) throw Object.assign(new Error('empty'), { type: 'entity.empty' });
  verifyEncoding(req, res, bytes);
};

/** `utf8` is how many clients write it. */
const UTF_8 = /^utf-?8$/i;

const jsonReader = (verify: typeof verifyEncoding): RequestHandler => {
  // Not strict: `null` is well-formed JSON, and the schema checks whether the body is an object.
  const read = readBody(express.json({ limit: MAX_BODY_BYTES, type: () => true, strict: false, verify }));
  return (req, res, next) => {
    if (!req.is('application/json')) {
      return next(refuseBody('Send the body as JSON with Content-Type: application/json.'));
    }
    const { charset } = parseContentType(req.headers['content-type'] ?? '').parameters;
    if (charset && !UTF_8.test(charset)) {
      return next(refuseBody('The charset of Content-Type is not supported: send the body as UTF-8.'));
    }
    // The parser refuses `utf8`, and decodes UTF-7, UTF-16 and UTF-32 without verifying them.
    req.headers['content-type'] = 'application/json';
    return read(req, res, next);
  };
};

/** Reads a JSON body. Throws BAD_REQUEST that says what is wrong with it. */
export const jsonBody = jsonReader(verifyNotEmpty);

const jsonIfSent = jsonReader(verifyEncoding);

const readBytes = readBody(express.raw({ limit: MAX_BODY_BYTES, type: () => true }));

/** Reads a body if there is one. Whether a chunked body is empty is known only after reading it; its Content-Type is then ignored. */
const readIfSent: RequestHandler = (req, res, next) => {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = req.headers;
  if (coding === undefined && Number(length) === 0) return next();
  if (coding === undefined || req.is('application/json')) return jsonIfSent(req, res, next);
  return readBytes(req, res, (error?: unknown) => {
    if (error !== undefined) return next(error);
    if ((req.body as Buffer).length > 0) return jsonIfSent(req, res, next);
    req.body = undefined;
    next();
  });
};

/** For a POST without parameters: no body and `{}` are accepted, any other body is BAD_REQUEST. */
export const noBody: RequestHandler[] = [
  readIfSent,
  (req, _res, next) => {
    parse(emptyBody, req.body === undefined ? {} : req.body);
    next();
  },
];
