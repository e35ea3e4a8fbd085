import { randomUUID } from 'node:crypto';
import { presentError } from '@vat/contracts';
import type { AppError } from '@vat/domain';
import type { Metrics } from '@vat/runtime';
import type { Request, RequestHandler, Response } from 'express';
import { secure } from '../http/secure.js';
import { type Client, clientOf } from './client-network.js';
import { tooBusyToSignIn } from './sign-in.js';

/** The path of sign-ins, as Express matches it. */
const PATH = /^\/app\/api\/session\/?(?:\?|$)/i;

/** Sign-ins of a process in a window from which on they are refused by the short way; people are far below it. */
const CROWDED = { windowMs: 250, requests: 15 } as const;

/** Longer than any sign-in that its schema accepts. */
const MAX_BYTES = 16 * 1024;

export type ShedSignInsDeps = {
  /** The error with which a sign-in is refused at once, or null. */
  refuse: (email: string, client: Client) => AppError | null;
  metrics: Pick<Metrics, 'httpRequests'>;
  /** Is called for each sign-in that was refused here, which has no log line of its own. */
  onShed: () => void;
  now: () => Date;
};

/** Reads a body to its end; nothing follows when the request is cut off before. */
const readBody = (req: Request, onEnd: (text: string) => void): void => {
  const chunks: Buffer[] = [];
  req.on('data', (chunk: Buffer) => chunks.push(chunk));
  req.once('end', () => onEnd(Buffer.concat(chunks).toString()));
};

const parseBody = (text: string): { email?: unknown } | undefined => {
  try {
    return (JSON.parse(text) as { email?: unknown } | null) ?? undefined;
  } catch {
    return undefined;
  }
};

/**
 * Refuses what of a flood of sign-ins would be refused anyway, at a tenth of the cost: without a logger, routes and schemas.
 * Thousands a second would else take the process from customers' calls. As long as few sign in, it does nothing.
 */
export const shedSignIns = ({ refuse, metrics, onShed, now }: ShedSignInsDeps): RequestHandler => {
  const addHeaders = secure('answers');
  let windowEnd = 0;
  let requests = 0;
  let requestsBefore = 0;
  const isCrowded = (): boolean => {
    const at = now().getTime();
    if (at >= windowEnd) {
      requestsBefore = at < windowEnd + CROWDED.windowMs ? requests : 0;
      requests = 0;
      windowEnd = at + CROWDED.windowMs;
    }
    requests += 1;
    return Math.max(requests, requestsBefore) > CROWDED.requests;
  };

  const answer = (req: Request, res: Response, error: AppError): void => {
    const retryAfter = String(error.extra.retry_after);
    addHeaders(req, res, () => undefined);
    res.writeHead(error.spec.status, {
      'Content-Type': 'application/json; charset=utf-8',
      'Retry-After': retryAfter,
      'X-Request-Id': randomUUID(),
      ...(req.complete ? {} : { Connection: 'close' }),
    });
    res.end(JSON.stringify(presentError(error)));
    metrics.httpRequests.observe({ route: '/app/api/session', method: 'POST', status: error.spec.status }, 0);
    onShed();
  };

  return (req, res, next) => {
    if (req.method !== 'POST' || !PATH.test(req.url) || !isCrowded()) return next();
    const length = Number(req.headers['content-length'] ?? Number.NaN);
    // Not what a browser sends. What cannot be read in one go is not worth it now.
    if (!(length <= MAX_BYTES) || req.headers.expect !== undefined) return answer(req, res, tooBusyToSignIn());
    readBody(req, (text) => {
      const body = parseBody(text);
      const email = typeof body?.email === 'string' ? body.email.trim().toLowerCase() : '';
      const error = refuse(email, clientOf(req));
      if (error) return answer(req, res, error);
      // It has been read, so the reader of bodies leaves it as it is.
      req.body = body;
      next();
    });
  };
};
