import type { Span, Tracing } from '@vat/runtime';
import type { Request, Response } from 'express';
import { contextOf } from '../http/call.js';

/** Load balancers and Prometheus call them every few seconds; their spans would outnumber those of calls. */
const UNTRACED = ['/healthz', '/readyz', '/metrics'];

/**
 * Begins the span of a request, as a child of the caller's `traceparent` if there is a well-formed one. Undefined while traces
 * are off. The names are those of OpenTelemetry's conventions for HTTP.
 */
export const startServerSpan = (tracing: Tracing | null, req: Request): Span | undefined => {
  if (tracing === null || UNTRACED.includes(req.path)) return undefined;
  const { method, protocol } = req;
  return tracing.start({
    name: method,
    kind: 'server',
    parent: req.get('traceparent'),
    attributes: { 'http.request.method': method, 'url.scheme': protocol },
  });
};

const PUBLIC_ID = /^[a-z]+_[0-9a-z]{26}$/;

/** The path with its ids. Whatever else the caller sent in place of one stays `:id`: it may be a VAT number or a token. */
const pathOf = (route: string, path: string): string => {
  const sent = path.split('/');
  return route
    .split('/')
    .map((part, n) => (part.startsWith(':') && PUBLIC_ID.test(sent[n] ?? '') ? sent[n] : part))
    .join('/');
};

/** Ends the span of a request when its response has ended. `route`: the pattern of its path, undefined where none matched. */
export const endServerSpan = (
  span: Span,
  { method, path }: Pick<Request, 'method' | 'path'>,
  route: string | undefined,
  res: Response,
): void => {
  const { errorCode } = contextOf(res);
  // A caller who left before the status line was sent got no status.
  const status = res.headersSent ? res.statusCode : undefined;
  const errorType = errorCode ?? (status === undefined ? 'aborted' : status >= 400 ? String(status) : undefined);
  span.end({
    name: route === undefined ? method : `${method} ${route}`,
    attributes: {
      'http.route': route,
      'url.path': route === undefined ? undefined : pathOf(route, path),
      'http.response.status_code': status,
      'error.type': errorType,
    },
    // A refusal is the caller's fault, not one of this service.
    error: status === undefined || status >= 500 ? errorType : undefined,
  });
};
