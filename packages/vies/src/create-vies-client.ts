import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import {
  type CallUpstream,
  type Exchange,
  type LookupNoAnswer,
  type LookupOutcome,
  type LookupSubject,
  MAX_RETRY_AFTER_MS,
  type RetryAfter,
  storedHeaders,
  userAgentOf,
} from '@vat/domain';
import got, { type Got, type Response } from 'got';
import { classifyAnswer, noAnswer, type UpstreamAnswer } from './classify-answer.js';
import { encodeLookup } from './wire.js';

/** How a request ended. `error` is the class and message stored in the exchange; null only for a complete answer. */
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

/** The longest answer that is read. Real ones are below 2 KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Sends one body and reads the answer as bytes. The result of a request that was cut off contains the bytes that had
 * arrived. Never rejects. Deadline and abort are handled here rather than by got, so that they apply in every state of
 * the request (resolving a name, after a protocol switch, reading a slow answer).
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
        resolve(posted); // later calls have no effect
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

      stream.on('error', fail); // never removed: an error after the end must not be uncaught
      stream.once('response', (response: Response) => {
        head = response;
      });
      stream.on('data', (chunk: Uint8Array) => {
        const remaining = MAX_ANSWER_BYTES - received;
        received += chunk.byteLength;
        chunks.push(chunk.byteLength > remaining ? chunk.subarray(0, remaining) : chunk);
        if (received > MAX_ANSWER_BYTES) cut('too_long', `an answer over ${MAX_ANSWER_BYTES} bytes`);
      });
      stream.once('end', () => {
        const response = answer(true);
        if (response) settle({ end: 'complete', response, error: null });
        else fail(new Error('the answer ended before it began'));
      });
      // got listens for `upgrade`, so Node does not close the socket of a 101.
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

/**
 * The outcome of a lookup whose exchange failed: always no answer, `timeout` only when the connection itself timed
 * out.
 */
export const describeFailure = (error: Error): LookupNoAnswer => {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (code === 'ETIMEDOUT') return noAnswer('timeout', 'connection timed out');
  if (code.startsWith('HPE_')) return noAnswer('unavailable', 'an answer that is not HTTP');
  return noAnswer('unavailable', SENTENCES.get(code) ?? `connection failed (${code})`);
};

const SECONDS = /^\d{1,9}$/;
/**
 * An HTTP date begins with the name of its day. Nothing else is read as a date, because `Date.parse` accepts nearly
 * everything.
 */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

const dateMs = (text: string | undefined): number =>
  text !== undefined && HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

/** Milliseconds of a Retry-After; 0 for a time in the past, null for a value that is neither seconds nor a date. */
const readMs = (headers: Record<string, string>, receivedAt: Date): number | null => {
  const value = headers['retry-after']?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * 1_000;
  const until = dateMs(value);
  if (Number.isNaN(until)) return null;
  // The upstream's own clock if it sends a Date: the local clock may differ by more than the delay.
  const from = dateMs(headers.date?.trim());
  return Math.max(0, until - (Number.isNaN(from) ? receivedAt.getTime() : from));
};

/** Codes that concern the whole upstream, or all requests of this service. */
const ABOUT_ALL = /^(?:GLOBAL_|SERVICE_UNAVAILABLE$|SERVER_BUSY$|IP_BLOCKED$)/;

/**
 * Which lookups a Retry-After delays. An error that one number causes, such as a server error, must not delay the
 * others.
 */
const scopeOf = (outcome: LookupOutcome, status: number): RetryAfter['scope'] => {
  const code = outcome.kind === 'no_answer' ? (outcome.code ?? '') : '';
  if (code.startsWith('MS_')) return 'member_state';
  return ABOUT_ALL.test(code) || status === 429 || status === 503 ? 'global' : 'request';
};

/** The Retry-After of an answer of any status, at most a minute; null when there is no delay. Pure. */
export const readRetryAfter = (
  outcome: LookupOutcome,
  { status, headers }: Pick<UpstreamAnswer, 'status' | 'headers'>,
  receivedAt: Date,
): RetryAfter | null => {
  const ms = readMs(headers, receivedAt);
  if (ms === null || ms === 0) return null;
  return { ms: Math.min(ms, MAX_RETRY_AFTER_MS), scope: scopeOf(outcome, status) };
};

const classify = (lookup: LookupSubject, posted: Posted): LookupOutcome => {
  if (posted.end === 'complete') return classifyAnswer(lookup, posted.response);
  if (posted.end === 'failed') return describeFailure(posted.failure);
  if (posted.end === 'too_long') return noAnswer('unavailable', posted.error);
  return noAnswer('timeout', posted.end === 'aborted' ? 'aborted' : posted.error);
};

/**
 * The outcome of a lookup from the end of its request, with the Retry-After of the answer, also of one that was cut
 * short. Pure; `receivedAt` is compared with a Retry-After that is a date.
 */
export const readPosted = (lookup: LookupSubject, posted: Posted, receivedAt: Date): LookupOutcome => {
  const outcome = classify(lookup, posted);
  const retryAfter = posted.response === null ? null : readRetryAfter(outcome, posted.response, receivedAt);
  return retryAfter === null ? outcome : { ...outcome, retryAfter };
};

type ViesClientOptions = {
  /** The REST base URL, e.g. `https://…/vies/rest-api`; a trailing slash is ignored. */
  baseUrl: string;
  /** One deadline for name resolution, connection, TLS, request and the whole answer, in milliseconds. */
  attemptTimeoutMs: number;
  userAgent?: string;
  /** Milliseconds after which an unused connection is closed. */
  idleConnectionMs?: number;
  now?: () => Date;
};

/** An upstream client. `lookUp` makes one lookup; `close` aborts the lookups in flight and closes the connections. */
export type ViesClient = { lookUp: CallUpstream; close: () => Promise<void> };

const parseTarget = (baseUrl: string): URL | null => {
  if (!URL.canParse(baseUrl)) return null;
  const url = new URL(baseUrl);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/check-vat-number`;
  // VIES needs no credentials, and customers see the URL of an exchange.
  url.username = '';
  url.password = '';
  return url;
};

/**
 * A client of VIES's REST service. `lookUp` never throws and settles within `attemptTimeoutMs`. The source of the exchange
 * is `vies`; a caller that makes a confirmation renames it. Proxy variables are ignored (the agents are explicit),
 * redirects are not followed and nothing is retried: the caller decides when to repeat a lookup.
 */
export const createViesClient = ({
  baseUrl,
  attemptTimeoutMs,
  userAgent = userAgentOf(),
  // Below the five seconds after which common servers close an idle connection: a POST on a connection that is just
  // closing fails with a reset, and the lookup is lost.
  idleConnectionMs = 4_000,
  now = () => new Date(),
}: ViesClientOptions): ViesClient => {
  const target = parseTarget(baseUrl);
  const agentOptions = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: idleConnectionMs };
  const agent = { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  // Every header is set here, so that the exchange stores exactly the headers that were sent.
  const headers = {
    ...(target && { host: target.host }),
    'user-agent': userAgent,
    accept: 'application/json',
    'accept-encoding': 'identity',
    'content-type': 'application/json',
    connection: 'keep-alive',
  };
  // Extended once, because got validates its options at every merge; each lookup then merges only its body.
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
  setMaxListeners(0, closing.signal); // one listener for each lookup in flight, so more than Node's ten
  const inFlight = new Set<Promise<unknown>>();
  const send = post({ client, target, deadlineMs: attemptTimeoutMs, closing: closing.signal });

  const lookUp: CallUpstream = async (lookup, signal) => {
    const startedAt = now();
    const start = performance.now();
    const body = encodeLookup(lookup);
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
    return { outcome: readPosted(lookup, posted, now()), exchange };
  };

  const close = async () => {
    closing.abort();
    await Promise.all(inFlight);
    agent.http.destroy();
    agent.https.destroy();
  };
  return { lookUp, close };
};
