import { AppError } from '@vat/domain';
import type { RequestHandler } from 'express';

const refuse = (path: string, message: string): never => {
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path, message }] } });
};

/** Throws BAD_REQUEST for what HTTP forbids and Node would refuse without an envelope: no Host, or an unknown expectation. */
export const refuseBrokenHeaders: RequestHandler = (req, _res, next) => {
  const { host, expect } = req.headers;
  if (host === undefined && req.httpVersion === '1.1') refuse('Host', 'Host is missing');
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    // Its body comes without being asked for.
    delete req.headers.expect;
    refuse('Expect', 'Expect is 100-continue or left out');
  }
  next();
};
