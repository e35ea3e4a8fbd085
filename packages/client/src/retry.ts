/** How long a client repeats a call that failed. Times are in milliseconds. */
type RetryPolicy = {
  /** Attempts in all, as long as the service names no delay. */
  attempts: number;
  firstDelayMs: number;
  /** Each further delay is this many times the one before, up to `maxDelayMs`. */
  factor: number;
  maxDelayMs: number;
  /** Each delay is lengthened by up to this part of it at random, so that callers do not return at the same moment. */
  spread: number;
  /** No wait goes past this time after the beginning of the first attempt. */
  totalMs: number;
};

/** The policy of every client of the service (`conformance.json` of `@vat/receiver`). */
export const RETRY_POLICY: RetryPolicy = {
  attempts: 6,
  firstDelayMs: 500,
  factor: 2,
  maxDelayMs: 8_000,
  spread: 0.2,
  totalMs: 120_000,
};

/** An attempt that did not succeed. */
type FailedAttempt = {
  /** Executing the call twice does no harm. */
  repeatable: boolean;
  /** 1 for the first attempt. */
  attempt: number;
  /** Since the beginning of the first attempt. */
  elapsedMs: number;
  /** Null when no complete answer arrived. */
  status: number | null;
  headers: Headers;
  /** The answer as parsed; null when it is not JSON. */
  body: unknown;
};

/** Answers of a service or proxy that may be gone a moment later. The work of the call may have been done. */
const PASSING: readonly (number | null)[] = [null, 408, 500, 502, 503, 504];

/** Whether the work of a call may have been done although it has no successful answer. */
export const isOutcomeUnknown = (status: number | null): boolean => PASSING.includes(status);

/** The object below `error` in an answer of the service; null in other answers. */
export const errorIn = (body: unknown): Record<string, unknown> | null => {
  const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
  return typeof error === 'object' && error !== null ? { ...error } : null;
};

/** The header Retry-After in milliseconds, of seconds or a date; null when it is absent or cannot be read. */
export const readRetryAfter = (headers: Headers): number | null => {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  // Only the form of HTTP: Date.parse takes other texts, such as -5, for dates too.
  const until = / GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(until)) return null;
  return Math.max(0, until - (Date.parse(headers.get('date') ?? '') || Date.now()));
};

const delayOfService = ({ headers, body }: FailedAttempt): number | null => {
  const seconds = errorIn(body)?.retry_after;
  return typeof seconds === 'number' && seconds >= 0 ? seconds * 1_000 : readRetryAfter(headers);
};

const isPassing = ({ repeatable, status, body }: FailedAttempt): boolean => {
  const error = errorIn(body) ?? {};
  // Nothing was done. An error of the service without retry_after, such as QUOTA_EXCEEDED, lasts too long to wait for.
  if (status === 429) return typeof error.code !== 'string' || 'retry_after' in error;
  if (status === 409) return error.code === 'IDEMPOTENCY_IN_PROGRESS';
  return repeatable && isOutcomeUnknown(status);
};

/** The shortest wait before the next attempt in milliseconds, without the spread; null when the error is final. */
export const retryDelay = (attempt: FailedAttempt, policy: RetryPolicy = RETRY_POLICY): number | null => {
  if (!isPassing(attempt)) return null;
  const given = delayOfService(attempt);
  if (given === null && attempt.attempt >= policy.attempts) return null;
  const own = Math.min(policy.maxDelayMs, policy.firstDelayMs * policy.factor ** (attempt.attempt - 1));
  const delay = Math.max(policy.firstDelayMs, given ?? own);
  return attempt.elapsedMs + delay > policy.totalMs ? null : delay;
};
