import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { presentError } from '@vat/contracts';
import { type AppError, type Client, tooBusyToSignIn } from '@vat/domain';
import type { Metrics } from '@vat/runtime';
import { requestIdOf } from '../http/call.js';
import { clientOf, type TrustsProxy } from '../http/client-network.js';
import { headersOf } from '../http/secure.js';

/** The path of sign-ins, as Express matches it. */
const PATH = /^\/app\/api\/session\/?(?:\?|$)/i;

/** With more sign-ins than this per window, a process begins to shed them. Normal use stays far below it. */
const SHED_ABOVE = { windowMs: 250, requests: 15 } as const;

/** How many sign-ins are decided in one turn of the event loop, so that other calls run in between. */
const PER_TURN = 2;

/** More than any sign-in that the schema accepts. */
const MAX_BYTES = 16 * 1024;

export type ShedSignInsDeps = {
  /** The error with which a sign-in is refused immediately, or null. The same object for the same response. */
  refuse: (email: string, client: Client) => AppError | null;
  trustsProxy: TrustsProxy;
  metrics: Pick<Metrics, 'httpRequests'>;
  /** Called for each sign-in that is refused here, since it is not logged as a request. */
  onShed: () => void;
  now: () => Date;
};

/** Reads a body to its end. `onEnd` is not called when the request is aborted before. */
const readBody = (req: IncomingMessage, onEnd: (text: string) => void): void => {
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
 * During a flood of sign-ins, refuses those that would be refused anyway at a fraction of the cost: before Express, logger and
 * schemas. Otherwise thousands of sign-ins per second would use the CPU time of customers' calls. While few sign in, every
 * request goes to `app`.
 */
export const shedSignIns = (
  app: RequestListener,
  { refuse, trustsProxy, metrics, onShed, now }: ShedSignInsDeps,
): RequestListener => {
  const constantHeaders = ['Content-Type', 'application/json; charset=utf-8', ...headersOf('answers').flat()];
  let windowEnd = 0;
  let requests = 0;
  let previousRequests = 0;
  const isFlooded = (): boolean => {
    const at = now().getTime();
    if (at >= windowEnd) {
      previousRequests = at < windowEnd + SHED_ABOVE.windowMs ? requests : 0;
      requests = 0;
      windowEnd = at + SHED_ABOVE.windowMs;
    }
    requests += 1;
    return Math.max(requests, previousRequests) > SHED_ABOVE.requests;
  };

  /** Rendered once for each error. */
  const rendered = new WeakMap<AppError, { headers: string[]; body: string }>();
  const render = (error: AppError) => {
    const body = JSON.stringify(presentError(error));
    const length = String(Buffer.byteLength(body));
    const headers = [...constantHeaders, 'Content-Length', length, 'Retry-After', String(error.extra.retry_after)];
    rendered.set(error, { headers, body });
    return { headers, body };
  };

  const answer = (req: IncomingMessage, res: ServerResponse, error: AppError): void => {
    const { headers, body } = rendered.get(error) ?? render(error);
    const connection = req.complete ? 'keep-alive' : 'close';
    // As a list and with the length of the body: Node then writes the response in one piece.
    res
      .writeHead(error.spec.status, [...headers, 'X-Request-Id', requestIdOf(req), 'Connection', connection])
      .end(body);
    metrics.httpRequests.observe({ route: '/app/api/session', method: 'POST', status: error.spec.status }, 0);
    onShed();
  };

  const waiting: (() => void)[] = [];
  const decideSome = (): void => {
    for (const decide of waiting.splice(0, PER_TURN)) decide();
    if (waiting.length > 0) setImmediate(decideSome);
  };
  const decideInTurn = (decide: () => void): void => {
    if (waiting.push(decide) === 1) setImmediate(decideSome);
  };

  return (req, res) => {
    if (req.method !== 'POST' || !PATH.test(req.url ?? '') || !isFlooded()) return app(req, res);
    const length = Number(req.headers['content-length'] ?? Number.NaN);
    // Browsers declare the length and send no Expect. Other requests are too expensive to read during a flood.
    if (!(length <= MAX_BYTES) || req.headers.expect !== undefined) return answer(req, res, tooBusyToSignIn());
    const decide = (text: string) => {
      const body = parseBody(text);
      const email = typeof body?.email === 'string' ? body.email.trim().toLowerCase() : '';
      const error = refuse(email, clientOf(req, trustsProxy));
      if (error) return answer(req, res, error);
      // Already parsed, so the body parser does not read it again.
      Object.assign(req, { body });
      app(req, res);
    };
    readBody(req, (text) => decideInTurn(() => decide(text)));
  };
};
