import express, { type RequestHandler } from 'express';
import { MAX_BODY_BYTES, readBody, refuseBody } from './read-body.js';

// Not strict: whether JSON is an object is its schema's to say, and `null` is well-formed.
const read = readBody(express.json({ limit: MAX_BODY_BYTES, type: () => true, strict: false }));

/** Reads a body of JSON, or throws BAD_REQUEST and says what was wrong with it. */
export const jsonBody: RequestHandler = (req, res, next) => {
  if (!req.is('application/json')) {
    return next(refuseBody('Send the body as JSON with Content-Type: application/json.'));
  }
  return read(req, res, next);
};
