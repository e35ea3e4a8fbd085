import type { RequestHandler } from 'express';
import { jsonBody } from './json-body.js';

/** Reads a body as {@link jsonBody} does where one is sent; without one `req.body` is an empty object. */
export const optionalJsonBody: RequestHandler = (req, res, next) => {
  const isSent = req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;
  if (isSent) return jsonBody(req, res, next);
  req.body = {};
  next();
};
