import { randomUUID } from 'node:crypto';
import { errorFields, type Logger, type Metrics, withLogContext } from '@vat/runtime';
import type { RequestHandler } from 'express';
import { contextOf } from '../http/context.js';

const WELL_FORMED = /^[A-Za-z0-9._:-]{1,128}$/;

/** Gives every request its X-Request-Id (a well-formed one of the caller is kept), a logger that carries it, and one line at its end. */
export const requestId =
  (log: Logger, metrics: Metrics): RequestHandler =>
  (req, res, next) => {
    const given = req.get('x-request-id');
    const id = given !== undefined && WELL_FORMED.test(given) ? given : randomUUID();
    const context = contextOf(res);
    context.requestId = id;
    context.log = log.child({ request_id: id });
    res.setHeader('X-Request-Id', id);
    // A write after an answer's end is a fault of one call; unheard, it would end the process and with it all others.
    res.on('error', (error) => context.log.error('An answer was written to after its end.', errorFields(error)));
    const startedAt = performance.now();
    res.once('close', () => {
      const seconds = (performance.now() - startedAt) / 1_000;
      // The pattern, never the path: paths hold ids, and a metric a path would grow without end.
      const route: unknown = req.route?.path ?? 'none';
      metrics.httpRequests.observe({ route: String(route), method: req.method, status: res.statusCode }, seconds);
      context.log.info('Answered a request.', {
        method: req.method,
        path: req.path,
        status: res.statusCode,
        duration_ms: Math.round(seconds * 1_000),
        account_id: (context.caller ?? context.session)?.accountId,
        ...(res.writableFinished ? {} : { aborted: true }),
      });
    });
    withLogContext({ request_id: id }, next);
  };
