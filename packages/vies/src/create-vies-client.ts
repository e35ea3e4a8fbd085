import {
  type CallUpstream,
  type LookupNoAnswer,
  type LookupOutcome,
  type LookupSubject,
  MAX_RETRY_AFTER_MS,
  type RetryAfter,
  userAgentOf,
} from '@vat/domain';
import { exchangeOf, openCaller, type RecordedCall, retryAfterMs } from '@vat/outgoing';
import { classifyAnswer, type UpstreamAnswer } from './classify-answer.js';
import { noAnswer } from './error-codes.js';
import { encodeLookup } from './wire.js';

/** The longest answer that is read. Real ones are below 2 KiB. */
export const MAX_ANSWER_BYTES = 256 * 1024;

const SENTENCES = new Map<string | null, string>([
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

/** The outcome of a lookup whose call failed: `timeout` only when the connection itself timed out. */
const describeFailure = (code: string | null): LookupNoAnswer => {
  if (code === 'ETIMEDOUT') return noAnswer('timeout', 'connection timed out');
  if (code?.startsWith('HPE_')) return noAnswer('unavailable', 'an answer that is not HTTP');
  return noAnswer('unavailable', SENTENCES.get(code) ?? `connection failed (${code})`);
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
  const ms = retryAfterMs(headers, receivedAt);
  return ms ? { ms: Math.min(ms, MAX_RETRY_AFTER_MS), scope: scopeOf(outcome, status) } : null;
};

/** The part of a call that decides its outcome. */
export type EndedCall = Pick<RecordedCall, 'end' | 'response' | 'error' | 'errorCode'>;

const classify = (lookup: LookupSubject, { end, response, error, errorCode }: EndedCall): LookupOutcome => {
  if (end === 'complete' && response) return classifyAnswer(lookup, response);
  if (end === 'failed') return describeFailure(errorCode);
  if (end === 'too_long') return noAnswer('unavailable', error);
  return noAnswer('timeout', end === 'aborted' ? 'aborted' : error);
};

/**
 * The outcome of a lookup from its call, with the Retry-After of the answer, also of one that was cut short. Pure;
 * `receivedAt` is compared with a Retry-After that is a date.
 */
export const readLookup = (lookup: LookupSubject, call: EndedCall, receivedAt: Date): LookupOutcome => {
  const outcome = classify(lookup, call);
  const retryAfter = call.response && readRetryAfter(outcome, call.response, receivedAt);
  return retryAfter ? { ...outcome, retryAfter } : outcome;
};

type ViesClientOptions = {
  /** The REST base URL, e.g. `https://…/vies/rest-api`; a trailing slash is ignored. */
  baseUrl: string;
  /** One deadline for name resolution, connection, TLS, request and the whole answer, in milliseconds. */
  attemptTimeoutMs: number;
  userAgent?: string;
  /** Milliseconds after which an unused connection is closed. */
  idleConnectionMs?: number;
  /** An http proxy for all lookups. */
  proxyUrl?: string | undefined;
  now?: () => Date;
};

/** An upstream client. `lookUp` makes one lookup; `close` aborts the lookups in flight and closes the connections. */
export type ViesClient = { lookUp: CallUpstream; close: () => Promise<void> };

/** VIES needs no credentials, so those of a base URL are not sent. */
const endpointOf = (baseUrl: string): string => {
  if (!URL.canParse(baseUrl)) return baseUrl;
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/check-vat-number`;
  url.username = '';
  url.password = '';
  return url.href;
};

/**
 * A client of VIES's REST service. `lookUp` never throws and settles within `attemptTimeoutMs`. The source of the exchange
 * is `vies`; a caller that makes a confirmation renames it. Nothing is retried: the caller decides when to repeat a lookup.
 */
export const createViesClient = ({
  baseUrl,
  attemptTimeoutMs,
  userAgent = userAgentOf(),
  idleConnectionMs,
  proxyUrl,
  now = () => new Date(),
}: ViesClientOptions): ViesClient => {
  const url = endpointOf(baseUrl);
  const headers = { accept: 'application/json', 'content-type': 'application/json', connection: 'keep-alive' };
  const { call, close } = openCaller({
    userAgent,
    headers,
    maxAnswerBytes: MAX_ANSWER_BYTES,
    now,
    idleConnectionMs,
    proxyUrl,
  });
  return {
    lookUp: async (input, signal) => {
      const made = await call({ url, body: encodeLookup(input), deadlineMs: attemptTimeoutMs, signal });
      return { outcome: readLookup(input, made, now()), exchange: exchangeOf('vies', made) };
    },
    close: async () => close(),
  };
};
