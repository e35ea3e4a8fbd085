import type { RequestListener } from 'node:http';
import { presentError } from '@vat/contracts';
import { AppError, badRequest, publicId } from '@vat/domain';
import { errorFields, type Logger, type Metrics, type Tracing, traceFields, withLogContext } from '@vat/runtime';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { contextOf, countedStatusOf, requestIdOf } from '../http/call.js';
import { breakOff, CallerGone, dropRestOfBody } from '../http/connection.js';
import { endServerSpan, startServerSpan } from './trace-request.js';

/**
 * Removes scheme and host (RFC 9112 §3.2.2) and fragment from the target of a request. Express answers a target in which it finds
 * no path itself, in HTML and without an X-Request-Id, and sign-ins are recognised by their path.
 */
export const withPath =
  (listener: RequestListener): RequestListener =>
  (req, res) => {
    const path = (req.url ?? '').replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, '').replace(/#.*$/, '');
    req.url = path.startsWith('/') ? path : `/${path}`;
    listener(req, res);
  };

/** The path as it is logged. In a link with a token everything after the id is left out: anybody who has the token can use it. */
export const loggedPath = (path: string): string =>
  path.replace(/(\/(?:verify|unsubscribe)\/(?:(?:chk|usr)_[0-9a-z]{26}(?![0-9a-z]))?).+/i, '$1…');

/**
 * Gives each request its X-Request-Id (the caller's own if it is well-formed), its span and a logger with both, and logs the
 * request when it ends.
 */
export const requestId =
  ({ log, metrics, tracing }: { log: Logger; metrics: Metrics; tracing: Tracing | null }): RequestHandler =>
  (req, res, next) => {
    const id = requestIdOf(req);
    const context = contextOf(res);
    context.requestId = id;
    const span = startServerSpan(tracing, req);
    context.traceparent = span?.traceparent;
    const fields = { request_id: id, ...traceFields(span?.traceparent) };
    context.log = log.child(fields);
    res.setHeader('X-Request-Id', id);
    // A write after the end of the answer. Without a listener, the error event would end the process.
    res.on('error', (error) => context.log.error('Writing the answer failed.', errorFields(error)));
    const startedAt = performance.now();
    // As it was sent: a mounted router removes its own part, and a compressed version of a file has another name.
    const { path } = req;
    res.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1_000;
      // The route's pattern, since paths contain ids: the number of label values must be bounded.
      const pattern: unknown = req.route?.path;
      const route = pattern === undefined ? undefined : `${req.baseUrl}${pattern}`;
      if (span) endServerSpan(span, { method: req.method, path }, route, res);
      const status = countedStatusOf(res);
      metrics.httpRequests.observe({ route: route ?? 'none', method: req.method, status }, seconds);
      const accountId = (context.caller ?? context.session)?.accountId;
      context.log.info('Answered a request.', {
        method: req.method,
        path: loggedPath(path),
        status,
        duration_ms: Math.round(seconds * 1_000),
        account_id: accountId && publicId('account', accountId),
        ...(res.writableFinished ? {} : { aborted: true }),
      });
    });
    withLogContext(fields, next);
  };

/** Throws BAD_REQUEST for a missing Host or an unknown Expect, which Node would refuse without the error envelope. */
export const refuseBrokenHeaders: RequestHandler = (req, _res, next) => {
  const { host, expect } = req.headers;
  if (host === undefined && req.httpVersion === '1.1') throw badRequest('Host', 'Host is missing');
  // Node keeps the first; a proxy may have gone by another.
  if (req.rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === 'host').length > 1)
    throw badRequest('Host', 'Host is sent once');
  if (expect !== undefined && !/^100-continue$/i.test(expect)) {
    // Removed, since such a client sends its body without waiting for 100 Continue.
    delete req.headers.expect;
    throw badRequest('Expect', 'Expect is 100-continue or left out');
  }
  next();
};

/** Errors of Express itself (a path that is not a valid URI) have a status below 500. They are answered with NOT_FOUND. */
const isClientFault = (error: unknown): boolean => {
  const status = (error as { status?: unknown } | null)?.status;
  return typeof status === 'number' && status >= 400 && status < 500;
};

/** Headers of a file that a route set before it failed. */
const OF_A_FILE = [
  'Content-Disposition',
  'Content-Encoding',
  'Content-Range',
  'ETag',
  'Last-Modified',
  'X-Dossier-Checks',
];

/**
 * Answers an error with the error envelope. An error that is not an {@link AppError} becomes INTERNAL and leaks nothing. No cache
 * may store the answer: with the lifetime of the file that was requested, a proxy could serve the error to everybody. An error
 * after the first byte closes the connection and is not passed on, because Express would print its stack between the log lines.
 */
export const sendError: ErrorRequestHandler = (error: unknown, req, res, _next) => {
  if (error instanceof CallerGone && res.destroyed) return;
  const refusal =
    error instanceof AppError ? error : new AppError(isClientFault(error) ? 'NOT_FOUND' : 'INTERNAL', { cause: error });
  if (refusal.code === 'INTERNAL')
    contextOf(res).log.error('A request failed with an internal error.', errorFields(error));
  else if (res.headersSent)
    contextOf(res).log.warn('An answer ended early, after its first byte.', { code: refusal.code });
  contextOf(res).errorCode = refusal.code;
  if (res.headersSent) return breakOff(res);
  for (const name of OF_A_FILE) res.removeHeader(name);
  res.setHeader('Cache-Control', 'no-store');
  const retryAfter = refusal.extra.retry_after;
  if (typeof retryAfter === 'number') res.setHeader('Retry-After', String(retryAfter));
  dropRestOfBody(req, res);
  res.status(refusal.spec.status).type('json').json(presentError(refusal));
};
