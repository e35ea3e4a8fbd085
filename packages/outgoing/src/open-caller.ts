import type { ClientRequest } from 'node:http';
import { type CheckSource, type Exchange, storedHeaders } from '@vat/domain';
import got, { type Response } from 'got';
import { routeOf } from './egress-proxy.js';

/** How a call ended; `failed` is a failure of name resolution, connection or protocol. */
export type CallEnd = 'complete' | 'too_long' | 'deadline' | 'aborted' | 'failed';

/** A finished call. Its exchange has every byte that was received, also when the answer was cut off. */
export type RecordedCall = Omit<Exchange, 'source'> & {
  end: CallEnd;
  /** The code of a failure (`ECONNRESET` …); null for every other end. */
  errorCode: string | null;
};

/** The exchange of a call, as it is stored. */
export const exchangeOf = (
  source: CheckSource,
  { startedAt, durationMs, request, response, error }: RecordedCall,
): Exchange => ({ source, startedAt, durationMs, request, response, error });

/** One call. With a body it is a POST, otherwise a GET. */
type CallInput = {
  /** http or https; user info becomes basic authentication and is not recorded. */
  url: string;
  body?: Uint8Array | undefined;
  headers?: Record<string, string>;
  /** One deadline for name resolution, connection, TLS, request and the whole answer, in milliseconds. */
  deadlineMs: number;
  signal?: AbortSignal | undefined;
};

/** `call` never rejects; `close` aborts the calls in flight and closes the connections. */
export type Caller = { call: (input: CallInput) => Promise<RecordedCall>; close: () => void };

type CallerOptions = {
  userAgent: string;
  /** Sent with every call. */
  headers?: Record<string, string>;
  /** The longest answer that is read. */
  maxAnswerBytes: number;
  now: () => Date;
  /**
   * Milliseconds after which an unused connection is closed. The default is below the five seconds after which common
   * servers close one: a call on a connection that is just closing fails with a reset.
   */
  idleConnectionMs?: number | undefined;
  /** An http proxy for all calls. Setting EGRESS_PROXY. */
  proxyUrl?: string | undefined;
};

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code });

const parseUrl = (text: string): URL | null => {
  const url = URL.canParse(text) ? new URL(text) : null;
  return url && (url.protocol === 'http:' || url.protocol === 'https:') ? url : null;
};

/** An operator's URL may contain credentials, and an exchange becomes part of customers' dossiers. */
const withoutUserInfo = (url: URL): string => {
  if (url.username === '' && url.password === '') return url.href;
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
};

const UNRECORDED_HEADERS = ['authorization', 'proxy-authorization'];

const sentHeaders = (request: ClientRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(request.getHeaders()).flatMap(([name, value]) =>
      value === undefined || UNRECORDED_HEADERS.includes(name) ? [] : [[name, String(value)]],
    ),
  );

/**
 * Opens connections to upstreams. A call is recorded byte for byte, except cookies and credentials. It follows no redirect,
 * is not repeated, uses no proxy but `proxyUrl` (the agents are explicit), and does not decompress: the stored bytes are the
 * received ones, and a small answer cannot become a large one.
 */
export const openCaller = ({
  userAgent,
  headers: common,
  maxAnswerBytes,
  now,
  idleConnectionMs = 4_000,
  proxyUrl,
}: CallerOptions): Caller => {
  const { agent, request } = routeOf({ keepAlive: true, timeout: idleConnectionMs }, proxyUrl);
  const defaults = { 'user-agent': userAgent, 'accept-encoding': 'identity', ...common };
  // Extended once, because got validates its options at every merge.
  const client = got.extend({
    ...{ agent, headers: defaults, retry: { limit: 0 }, ...(request && { request }) },
    ...{ followRedirect: false, throwHttpErrors: false, decompress: false },
  });
  let closed = false;
  /** Aborts each call in flight. */
  const inFlight = new Set<() => void>();

  const call = ({ url: text, body, headers, deadlineMs, signal }: CallInput): Promise<RecordedCall> => {
    const startedAt = now();
    const start = performance.now();
    const url = parseUrl(text);
    const method = body === undefined ? 'GET' : 'POST';
    let sent: Record<string, string> = { ...defaults, ...headers };
    let head: Response | null = null;
    const chunks: Uint8Array[] = [];
    let received = 0;

    const record = (end: CallEnd, error: string | null, errorCode: string | null): RecordedCall => ({
      ...{ end, error, errorCode, startedAt, durationMs: Math.round(performance.now() - start) },
      request: {
        ...{ method, url: url ? withoutUserInfo(url) : text, headers: sent },
        body: body ?? new Uint8Array(),
      },
      response: head && {
        ...{ status: head.statusCode, headers: storedHeaders(head.headers) },
        ...{ body: Buffer.concat(chunks), complete: end === 'complete' },
      },
    });

    // Deadline and abort are handled here rather than by got, so that they apply in every state of the call (resolving a
    // name, after a protocol switch, reading a slow answer).
    return new Promise((resolve) => {
      if (url === null)
        return resolve(record('failed', 'Error: the upstream address is not an http(s) URL', 'ERR_INVALID_URL'));
      if (closed || signal?.aborted) return resolve(record('aborted', 'AbortError: aborted before it was sent', null));

      const stream = client.stream(url, {
        method,
        ...(body && { body: Buffer.from(body) }),
        ...(headers && { headers }),
      });
      const settle = (end: CallEnd, error: string | null, errorCode: string | null = null) => {
        clearTimeout(timer);
        inFlight.delete(abort);
        signal?.removeEventListener('abort', abort);
        resolve(record(end, error, errorCode)); // later calls have no effect
        if (end !== 'complete') stream.destroy();
      };
      const fail = (error: NodeJS.ErrnoException) =>
        settle('failed', `${error.name}: ${error.message}`, error.code ?? error.name);
      const abort = () => settle('aborted', 'AbortError: aborted');
      const timer = setTimeout(
        () => settle('deadline', `no complete answer within ${Math.round(deadlineMs)} ms`),
        deadlineMs,
      );
      inFlight.add(abort);
      signal?.addEventListener('abort', abort);

      stream.on('error', fail); // never removed: an error after the end must not be uncaught
      stream.once('request', (request: ClientRequest) => {
        sent = sentHeaders(request);
      });
      stream.once('response', (response: Response) => {
        head = response;
      });
      stream.on('data', (chunk: Uint8Array) => {
        chunks.push(chunk.subarray(0, maxAnswerBytes - received));
        received += chunk.byteLength;
        if (received > maxAnswerBytes) settle('too_long', `an answer over ${maxAnswerBytes} bytes`);
      });
      stream.once('end', () => {
        if (head) settle('complete', null);
        else fail(new Error('the answer ended before it began'));
      });
      // got listens for `upgrade`, so Node does not close the socket of a 101.
      stream.once('upgrade', (_response: unknown, socket: { destroy: () => void }) => {
        socket.destroy();
        fail(withCode('the upstream switched protocols', 'ERR_UPGRADED'));
      });
    });
  };

  const close = () => {
    closed = true;
    for (const abort of inFlight) abort();
    agent.http.destroy();
    agent.https.destroy();
  };
  return { call, close };
};
