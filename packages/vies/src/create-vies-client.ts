import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { type AskUpstream, type Exchange, userAgentOf } from '@vat/domain';
import got from 'got';
import { encodeAsk } from './encode-ask.js';
import { post } from './post.js';
import { readPosted } from './read-posted.js';

type ViesClientOptions = {
  /** The REST base, e.g. `https://…/vies/rest-api`; a trailing slash does not matter. */
  baseUrl: string;
  /** One deadline over name lookup, connecting, TLS, request and the whole answer, in milliseconds. */
  attemptTimeoutMs: number;
  userAgent?: string;
  /** An unused connection is let go after this long, in milliseconds. */
  idleConnectionMs?: number;
  now?: () => Date;
};

/** An upstream client; `close` ends its asks in flight (as aborted) and its connections. */
export type ViesClient = { ask: AskUpstream; close: () => Promise<void> };

const parseTarget = (baseUrl: string): URL | null => {
  if (!URL.canParse(baseUrl)) return null;
  const url = new URL(baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/check-vat-number`;
  // VIES wants no credentials, and an exchange is shown to others: they go no further than this
  url.username = '';
  url.password = '';
  return url;
};

/**
 * A client of VIES's REST service. `ask` never throws and settles within `attemptTimeoutMs`; the exchange is named
 * after source `vies`, a caller that confirms renames it. Proxy variables are ignored (the agents are explicit),
 * redirects are not followed, nothing is tried twice: when to ask again is the caller's to decide.
 */
export const createViesClient = ({
  baseUrl,
  attemptTimeoutMs,
  userAgent = userAgentOf(),
  // Below the five seconds after which common servers drop an idle connection: a POST sent into one that is just
  // closing comes back as a reset, and would cost the caller its answer.
  idleConnectionMs = 4_000,
  now = () => new Date(),
}: ViesClientOptions): ViesClient => {
  const target = parseTarget(baseUrl);
  const agentOptions = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: idleConnectionMs };
  const agent = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  // Every header is set here, so that what the exchange keeps is what went over the wire.
  const headers = {
    ...(target && { host: target.host }),
    'user-agent': userAgent,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    connection: 'keep-alive',
  };
  // Extended once: got checks its options at every merge, and per ask only the body is left to merge.
  const client = got.extend({
    method: 'POST',
    agent,
    retry: { limit: 0 },
    followRedirect: false,
    throwHttpErrors: false,
    decompress: false,
    headers,
  });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one listener an ask in flight, by design more than Node's ten
  const inFlight = new Set<Promise<unknown>>();
  const send = post({ client, target, deadlineMs: attemptTimeoutMs, closing: closing.signal });

  const ask: AskUpstream = async (question, signal) => {
    const startedAt = now();
    const start = performance.now();
    const body = encodeAsk(question);
    const sending = send(body, signal);
    inFlight.add(sending);
    const posted = await sending;
    inFlight.delete(sending);
    const exchange: Exchange = {
      source: 'vies',
      startedAt,
      durationMs: Math.round(performance.now() - start),
      request: {
        method: 'POST',
        url: target?.href ?? baseUrl,
        headers: { ...headers, 'content-length': String(body.byteLength) },
        body,
      },
      response: posted.response,
      error: posted.error,
    };
    return { outcome: readPosted(question, posted, now()), exchange };
  };

  const close = async () => {
    closing.abort();
    await Promise.all(inFlight);
    agent.http.destroy();
    agent.https.destroy();
  };
  return { ask, close };
};
