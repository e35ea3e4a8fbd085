import { emptyBody } from '@vat/contracts';
import express, { type RequestHandler } from 'express';
import { parse } from '../http/parse.js';
import { jsonBody } from './json-body.js';
import { MAX_BODY_BYTES, readBody } from './read-body.js';

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
