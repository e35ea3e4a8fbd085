import { setTimeout as wait } from 'node:timers/promises';
import { type Connection, readConnection } from './connection.js';
import { AbandonedError, BatchPendingError, PendingError } from './errors.js';
import { type EventFollower, followEvents } from './follow-events.js';
import type { Batch, Check, Event, Request } from './generated/api-types.js';
import { type CallOptions, createCaller, createLister, foreignAnswer, type Input } from './operations.js';
import { readRetryAfter } from './retry.js';
import { ATTEMPT_MS, createSender, type SendOptions, type Surroundings } from './send.js';
import { poll } from './wait.js';

export type WaitOptions = CallOptions & {
  /** How long to wait for an answer that takes longer, in milliseconds; five minutes by default. */
  waitMs?: number | undefined;
};

const WAIT_MS = 300_000;
const EVENTS_WAIT_S = 20;
const EVENTS_PAGE = 100;
const SLOW_POLL_MS = 15_000;
const FAST_POLL_MS = 1_000;

const REAL: Surroundings = {
  now: () => performance.now(),
  sleep: (ms, signal) =>
    wait(ms, undefined, signal ? { signal } : {}).catch((error: unknown) => {
      signal?.throwIfAborted();
      throw error;
    }),
  random: Math.random,
};

/** When to look at a batch again: often near its end, seldom when that is far away. */
const pauseOf = ({ eta }: Batch): number => {
  const left = eta === null ? Number.POSITIVE_INFINITY : Date.parse(eta) - Date.now();
  return Math.min(SLOW_POLL_MS, Math.max(FAST_POLL_MS, left / 4));
};

const outcomeOf = (id: string, request: Request | null): Check => {
  if (request === null) throw new PendingError(id);
  if (request.status === 'abandoned') throw new AbandonedError(request);
  if (!request.check) throw foreignAnswer('getRequest', 'without a request');
  return request.check;
};

/**
 * Makes a client of the service. Every method rejects with ApiError when the service refuses a call, with ConnectionError when
 * no answer arrives, and with the reason of its `signal` when that is aborted.
 */
export const createClient = (
  connection: Connection,
  { userAgent = 'vat-client', ...replaced }: Partial<Surroundings> & { userAgent?: string } = {},
) => {
  const { apiKey, baseUrl } = readConnection(connection);
  const surroundings = { ...REAL, ...replaced };
  const send = createSender({ apiKey, baseUrl }, userAgent, surroundings);
  const call = createCaller(send);

  const awaitRequest = async (id: string, intervalMs: number | null, options: WaitOptions): Promise<Check> => {
    const { waitMs = WAIT_MS, signal } = options;
    const request = await poll(surroundings)({ waitMs, intervalMs, signal }, async (within) => {
      const { body, headers } = await call('getRequest', { id }, { ...within, ...options });
      return { value: body, ended: body.status !== 'pending', intervalMs: readRetryAfter(headers) };
    });
    return outcomeOf(id, request);
  };

  return {
    baseUrl,
    /** Calls any operation of the API by its `operationId`, and resolves to its status, headers and body. */
    call,
    /** Reads all rows of a list, page by page, while they are taken. */
    list: createLister(call),

    /**
     * Checks a VAT number and waits for the answer, also when the service needs longer than the call (202). Rejects with
     * PendingError when there is still none after `waitMs`, and with AbandonedError. `onPending` gets the id of the request when
     * the wait begins.
     */
    check: async (
      input: Input<'createCheck'>['body'],
      { onPending, ...options }: WaitOptions & { onPending?: (requestId: string) => void } = {},
    ): Promise<Check> => {
      const answer = await call('createCheck', { body: input }, options);
      if (answer.status === 201 && typeof answer.body.valid === 'boolean') return answer.body;
      if (answer.status !== 202 || !answer.body.request_id) throw foreignAnswer('createCheck', 'without a check');
      onPending?.(answer.body.request_id);
      return awaitRequest(answer.body.request_id, readRetryAfter(answer.headers), options);
    },

    /** Waits for a request that was answered 202. Rejects with PendingError and AbandonedError. */
    waitForRequest: async (id: string, options: WaitOptions = {}): Promise<Check> => {
      const { body, headers } = await call('getRequest', { id }, options);
      if (body.status !== 'pending') return outcomeOf(id, body);
      return awaitRequest(id, readRetryAfter(headers), options);
    },

    /** Reads a batch, and waits until all its lines have ended. `onProgress` gets the batch whenever it was read. */
    waitForBatch: async (
      id: string,
      { onProgress, ...options }: WaitOptions & { onProgress?: (batch: Batch) => void } = {},
    ): Promise<Batch> => {
      const { waitMs = WAIT_MS, signal } = options;
      // A new file with few lines ends in about a second.
      const policy = { waitMs, intervalMs: FAST_POLL_MS, readFirst: true, signal };
      const batch = await poll(surroundings)(policy, async (within) => {
        const { body } = await call('getBatch', { id }, { ...within, ...options });
        if (body.status === undefined) throw foreignAnswer('getBatch', 'without a batch');
        onProgress?.(body);
        return { value: body, ended: body.status === 'completed', intervalMs: pauseOf(body) };
      });
      if (batch === null) throw new BatchPendingError(id);
      return batch;
    },

    /**
     * Follows the events of the account after an `event_id`, or from the `start`, as they happen and without end. `type`: only
     * events of this type.
     */
    events: (
      after: string,
      { type, timeoutMs = ATTEMPT_MS, ...more }: SendOptions & { type?: Event['type'] | undefined } = {},
    ): EventFollower => {
      const query = { type, wait: EVENTS_WAIT_S, limit: EVENTS_PAGE };
      // The service may hold the call, and an attempt must not end before it does.
      const options = { ...more, timeoutMs: timeoutMs + EVENTS_WAIT_S * 1_000 };
      const read = async (place: string) => {
        const { body } = await call('listEvents', { query: { ...query, after: place } }, options);
        // Without the id of an event the next call would not continue after it.
        const isPage = Array.isArray(body.data) && body.data.every((event) => typeof event?.event_id === 'string');
        if (!isPage) throw foreignAnswer('listEvents', 'without events');
        return { data: body.data, last_event_id: 'last_event_id' in body ? body.last_event_id : null };
      };
      return followEvents({ ...surroundings, read })(after, options.signal);
    },

    /** The place after the newest event; `start` when there is none. */
    newestEvent: async (options: SendOptions = {}): Promise<string> =>
      (await call('listEvents', { query: { limit: 1 } }, options)).body.data[0]?.event_id ?? 'start',
  };
};

/** A client of the service; see {@link createClient}. */
export type Client = ReturnType<typeof createClient>;
