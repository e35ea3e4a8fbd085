import type { Connection } from './connection.js';
import { ApiError, ConnectionError } from './errors.js';
import type { ErrorFields } from './generated/api-types.js';
import { errorIn, isOutcomeUnknown, RETRY_POLICY, retryDelay } from './retry.js';

/** What a client uses of its surroundings. Tests replace the clock. */
export type Surroundings = {
  /** Milliseconds of a clock. */
  now: () => number;
  /** Resolves after so many milliseconds, and rejects with the reason of the signal when that is aborted. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1, without 1. */
  random: () => number;
};

export type SendOptions = {
  /** Ends the call and its retries. The call then rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** How long one attempt may take, in milliseconds; 60 s by default, as a direct check can take up to about 48. */
  timeoutMs?: number | undefined;
  /** No attempt begins later than this after the first one, in milliseconds; two minutes by default, and at most. */
  totalMs?: number | undefined;
};

/** A call, ready to be sent. */
export type Call = {
  method: string;
  /** With query, from `/`. */
  path: string;
  headers?: Readonly<Record<string, string>>;
  body?: string | FormData | undefined;
  /** Executing it twice does no harm: it reads, or it has an Idempotency-Key. */
  repeatable: boolean;
};

/** A successful answer. */
export type Answer = { status: number; headers: Headers; bytes: Uint8Array };

/** How long one attempt may take by default. */
export const ATTEMPT_MS = 60_000;

/** The body as JSON; null when it is none. */
export const parseJson = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return null;
  }
};

/** Makes the error of an answer other than 2xx. */
const refusalOf = ({ status, headers, bytes }: Answer, address: string): ApiError => {
  const requestId = headers.get('x-request-id');
  const error = errorIn(parseJson(bytes));
  if (error && typeof error.code === 'string' && typeof error.message === 'string') {
    const { code, message, ...fields } = error;
    return new ApiError({
      status,
      code: String(code),
      message: String(message),
      fields: fields as ErrorFields,
      requestId,
    });
  }
  const target = headers.get('location');
  const message =
    status < 400 && target
      ? `${address} redirects to ${target}. Set the address of the service to that.`
      : `${address} answered ${status}, and not as the service does. Check its address, and what is between you and it.`;
  return new ApiError({ status, code: `HTTP_${status}`, message, fields: {}, requestId });
};

const innerCause = (error: unknown): Error & { code?: string } => {
  const { cause = error } = error as Error;
  return cause as Error;
};

/** Whether an attempt failed because the certificate of the server is not trusted, which the next one would as well. */
const isUntrusted = ({ cause }: Error): boolean => /CERT|LEAF_SIGNATURE/.test(innerCause(cause).code ?? '');

/** What to know about an attempt that got no answer; the cause of fetch's own error says more than its message. */
const unreachable = (address: string, cause: unknown): ConnectionError => {
  const { message, code } = innerCause(cause);
  return new ConnectionError(`There is no answer from ${address}: ${message || (code ?? 'unknown reason')}.`, {
    cause,
  });
};

/**
 * Returns a function that sends one call, repeats it as {@link retryDelay} says, and resolves to its 2xx answer. Throws
 * {@link ApiError}, {@link ConnectionError}, and the reason of an aborted signal.
 */
export const createSender =
  ({ apiKey, baseUrl }: Connection, userAgent: string, { now, sleep, random }: Surroundings) =>
  async ({ method, path, headers, body, repeatable }: Call, options: SendOptions = {}) => {
    const { signal, timeoutMs = ATTEMPT_MS, totalMs = RETRY_POLICY.totalMs } = options;
    const policy = { ...RETRY_POLICY, totalMs: Math.min(totalMs, RETRY_POLICY.totalMs) };
    // Here and not in an attempt: a header that cannot be sent, such as a key in Greek, is a TypeError and no missing answer.
    const sent = new Headers({ ...headers, Authorization: `Bearer ${apiKey}`, 'User-Agent': userAgent });
    let maybeDeleted = false;
    const attemptOnce = async (): Promise<Answer> => {
      const limits = [AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])];
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body }),
        // A followed redirect would turn a POST into a GET.
        redirect: 'manual',
        signal: AbortSignal.any(limits),
      });
      return {
        status: response.status,
        headers: response.headers,
        bytes: new Uint8Array(await response.arrayBuffer()),
      };
    };
    const startedAt = now();
    for (let attempt = 1; ; attempt += 1) {
      const answer = await attemptOnce().catch((error: unknown) => {
        signal?.throwIfAborted();
        return unreachable(baseUrl, error);
      });
      const isAnswer = !(answer instanceof Error);
      if (isAnswer && answer.status >= 200 && answer.status < 300) return answer;
      const got = isAnswer
        ? { status: answer.status, headers: answer.headers, body: parseJson(answer.bytes) }
        : { status: null, headers: new Headers(), body: null };
      // An attempt before deleted it, and its answer was lost.
      if (maybeDeleted && isAnswer && answer.status === 404 && errorIn(got.body)?.code === 'NOT_FOUND')
        return { status: 204, headers: answer.headers, bytes: new Uint8Array() };
      maybeDeleted ||= method === 'DELETE' && isOutcomeUnknown(got.status);
      const elapsedMs = now() - startedAt;
      const delay = retryDelay({ repeatable, attempt, elapsedMs, ...got }, policy);
      if (delay === null || (!isAnswer && isUntrusted(answer))) throw isAnswer ? refusalOf(answer, baseUrl) : answer;
      await sleep(Math.min(delay * (1 + policy.spread * random()), policy.totalMs - elapsedMs), signal);
    }
  };

export type Send = ReturnType<typeof createSender>;
