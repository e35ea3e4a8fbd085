import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  type Ask,
  type Exchange,
  type LookUp,
  type LookupNoAnswer,
  type LookupOutcome,
  MAX_RETRY_AFTER_MS,
  type RetryAfter,
  storedHeaders,
  userAgentOf,
} from '@vat/domain';
import got, { type Got, type Response } from 'got';
import { classifyAnswer, noAnswer, type UpstreamAnswer } from './classify-answer.js';
import { encodeLookup } from './wire.js';

/** How a request ended. `error` is the class and message kept in the exchange; null only for a complete answer. */
export type Posted =
  | { end: 'complete'; response: UpstreamAnswer; error: null }
  | { end: 'too_long' | 'deadline' | 'aborted'; response: UpstreamAnswer | null; error: string }
  | { end: 'failed'; response: UpstreamAnswer | null; error: string; failure: Error };

type PostDeps = {
  client: Got;
  /** Null when the base address is no http(s) URL. */
  target: URL | null;
  deadlineMs: number;
  /** Aborts every request when the client is closed. */
  closing: AbortSignal;
};

/** Longest answer read. Real ones are below 2 KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Sends one body and reads the answer as bytes, keeping what had arrived when it was cut. Never rejects. Deadline and
 * abort are timed here rather than by got, so that they hold whatever state the request is in (looking up a name,
 * switched to another protocol, reading a drip).
 */
export const post =
  ({ client, target, deadlineMs, closing }: PostDeps) =>
  (body: Uint8Array, signal?: AbortSignal): Promise<Posted> =>
    new Promise((resolve) => {
      if (!target) {
        const failure = Object.assign(new Error('the upstream address is not an http(s) URL'), {
          code: 'ERR_INVALID_URL',
        });
        resolve({ end: 'failed', response: null, error: `Error: ${failure.message}`, failure });
        return;
      }
      if (closing.aborted || signal?.aborted) {
        resolve({ end: 'aborted', response: null, error: 'AbortError: aborted before it was sent' });
        return;
      }

      const stream = client.stream(target, { body, headers: { 'content-length': String(body.byteLength) } });
      const chunks: Uint8Array[] = [];
      let received = 0;
      let head: Response | null = null;

      const answer = (complete: boolean): UpstreamAnswer | null =>
        head && {
          status: head.statusCode,
          headers: storedHeaders(head.headers),
          body: Buffer.concat(chunks),
          complete,
        };
      const settle = (posted: Posted) => {
        clearTimeout(timer);
        closing.removeEventListener('abort', abort);
        signal?.removeEventListener('abort', abort);
        resolve(posted); // a second call changes nothing
        if (posted.end !== 'complete') stream.destroy();
      };
      const cut = (end: 'too_long' | 'deadline' | 'aborted', error: string) =>
        settle({ end, response: answer(false), error });
      const fail = (failure: Error) =>
        settle({ end: 'failed', response: answer(false), error: `${failure.name}: ${failure.message}`, failure });
      const abort = () => cut('aborted', 'AbortError: aborted');

      const timer = setTimeout(() => cut('deadline', `no complete answer within ${deadlineMs} ms`), deadlineMs);
      closing.addEventListener('abort', abort);
      signal?.addEventListener('abort', abort);

      stream.on('error', fail); // stays on: an error after the end must not become an uncaught one
      stream.once('response', (response: Response) => {
        head = response;
      });
      stream.on('data', (chunk: Uint8Array) => {
        const room = MAX_ANSWER_BYTES - received;
        received += chunk.byteLength;
        chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk);
        if (received > MAX_ANSWER_BYTES) cut('too_long', `an answer over ${MAX_ANSWER_BYTES} bytes`);
      });
      stream.once('end', () => {
        const response = answer(true);
        if (response) settle({ end: 'complete', response, error: null });
        else fail(new Error('the answer ended before it began'));
      });
      // got listens for `upgrade`, so Node leaves the socket of a 101 to us
      stream.once('upgrade', (_response: unknown, socket: { destroy: () => void }) => {
        socket.destroy();
        fail(Object.assign(new Error('the upstream switched protocols'), { code: 'ERR_UPGRADED' }));
      });
    });

const SENTENCES = new Map<string, string>([
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection reset'],
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'host name not found'],
  ['EAI_AGAIN', 'host name not resolved'],
  ['EHOSTUNREACH', 'host not reachable'],
  ['ENETUNREACH', 'network not reachable'],
  ['ERR_INVALID_URL', 'the upstream address is not an http(s) URL'],
  ['ERR_UPGRADED', 'HTTP 101'],
  ['ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'an answer cut short'],
]);

/** What a failed exchange means for the ask: always no answer, a time-out only where the connection itself timed out. */
export const describeFailure = (error: Error): LookupNoAnswer => {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (code === 'ETIMEDOUT') return noAnswer('timeout', 'connection timed out');
  if (code.startsWith('HPE_')) return noAnswer('unavailable', 'an answer that is not HTTP');
  return noAnswer('unavailable', SENTENCES.get(code) ?? `connection failed (${code})`);
};

const SECONDS = /^\d{1,9}$/;
/** An HTTP date begins with the name of its day; nothing else is read as a date, `Date.parse` reads nearly everything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

const dateMs = (text: string | undefined): number =>
  text !== undefined && HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

/** Milliseconds that a Retry-After says, 0 for a moment that has passed, null for what is neither seconds nor a date. */
const readMs = (headers: Record<string, string>, receivedAt: Date): number | null => {
  const value = headers['retry-after']?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * 1_000;
  const until = dateMs(value);
  if (Number.isNaN(until)) return null;
  // The upstream's own clock, where it says it: ours may differ by more than the wait.
  const from = dateMs(headers.date?.trim());
  return Math.max(0, until - (Number.isNaN(from) ? receivedAt.getTime() : from));
};

/** Codes that are about the upstream as a whole, or about all of this service's requests. */
const ABOUT_ALL = /^(?:GLOBAL_|SERVICE_UNAVAILABLE$|SERVER_BUSY$|IP_BLOCKED$)/;

/** Which lookups a Retry-After delays. What one number causes, such as a server fault, must not delay the others. */
const scopeOf = (outcome: LookupOutcome, status: number): RetryAfter['scope'] => {
  const code = outcome.kind === 'no_answer' ? (outcome.code ?? '') : '';
  if (code.startsWith('MS_')) return 'member_state';
  return ABOUT_ALL.test(code) || status === 429 || status === 503 ? 'global' : 'request';
};

/** The Retry-After of an answer, whatever its status, at most a minute; null where there is none to wait for. Pure. */
export const readRetryAfter = (
  outcome: LookupOutcome,
  { status, headers }: Pick<UpstreamAnswer, 'status' | 'headers'>,
  receivedAt: Date,
): RetryAfter | null => {
  const ms = readMs(headers, receivedAt);
  if (ms === null || ms === 0) return null;
  return { ms: Math.min(ms, MAX_RETRY_AFTER_MS), scope: scopeOf(outcome, status) };
};

const classify = (ask: Ask, posted: Posted): LookupOutcome => {
  if (posted.end === 'complete') return classifyAnswer(ask, posted.response);
  if (posted.end === 'failed') return describeFailure(posted.failure);
  if (posted.end === 'too_long') return noAnswer('unavailable', posted.error);
  return noAnswer('timeout', posted.end === 'aborted' ? 'aborted' : posted.error);
};

/**
 * What a lookup came to: the outcome of however its request ended, and the Retry-After of whatever answered it, also of
 * an answer that was cut short. Pure; `receivedAt` is compared with a Retry-After that is a date.
 */
export const readPosted = (ask: Ask, posted: Posted, receivedAt: Date): LookupOutcome => {
  const outcome = classify(ask, posted);
  const retryAfter = posted.response === null ? null : readRetryAfter(outcome, posted.response, receivedAt);
  return retryAfter === null ? outcome : { ...outcome, retryAfter };
};

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
export type ViesClient = { ask: LookUp; close: () => Promise<void> };

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

  const ask: LookUp = async (question, signal) => {
    const startedAt = now();
    const start = performance.now();
    const body = encodeLookup(question);
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
