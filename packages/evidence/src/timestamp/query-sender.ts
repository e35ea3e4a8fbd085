import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { userAgentOf } from '@vat/domain';
import got, { type Response } from 'got';
import { TimestampRefused } from './timestamp.js';

/** Sends one TimeStampReq and resolves to the complete response. Rejects only with `TimestampRefused`. */
export type SendQuery = (query: Uint8Array, signal?: AbortSignal) => Promise<Uint8Array>;

type QuerySenderOptions = {
  /** http or https; user info becomes basic authentication. */
  url: string;
  /** One deadline for name lookup, connection, TLS, query and complete response, in milliseconds. */
  deadlineMs: number;
  userAgent?: string | undefined;
};

/** A sender with its own connections; `close` aborts its queries in flight. */
export type QuerySender = { send: SendQuery; close: () => void };

/** A token with a chain of four certificates has about 7 KiB. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ANSWER_TYPE = 'application/timestamp-reply';

const refuseHead = ({ statusCode, headers }: Response): TimestampRefused | null => {
  if (statusCode !== 200) return new TimestampRefused('http_status', `the authority answered HTTP ${statusCode}`);
  const type = headers['content-type'] ?? 'none';
  if (type.split(';')[0]?.trim().toLowerCase() !== ANSWER_TYPE)
    return new TimestampRefused('content_type', `the authority answered with content type ${type.slice(0, 100)}`);
  return null;
};

/**
 * A sender of queries by HTTP (RFC 3161 §3.4). It ignores proxy variables, does not follow redirects, does not decompress,
 * reads at most 64 KiB of a response, and does not retry; the caller decides about retries.
 */
export const createQuerySender = ({ url, deadlineMs, userAgent = userAgentOf() }: QuerySenderOptions): QuerySender => {
  const agent = { http: new HttpAgent(), https: new HttpsAgent() };
  const headers = {
    ...{ 'user-agent': userAgent, 'content-type': 'application/timestamp-query' },
    ...{ accept: ANSWER_TYPE, 'accept-encoding': 'identity' },
  };
  const client = got.extend({
    ...{ method: 'POST', agent, headers, retry: { limit: 0 } },
    ...{ followRedirect: false, throwHttpErrors: false, decompress: false },
  });
  const closing = new AbortController();
  setMaxListeners(0, closing.signal); // one listener per query in flight, which may be more than Node's default of ten

  const send: SendQuery = (query, signal) =>
    new Promise((resolve, reject) => {
      if (closing.signal.aborted || signal?.aborted) {
        reject(new TimestampRefused('aborted', 'the query was aborted before it was sent'));
        return;
      }
      const stream = client.stream(url, { body: query });
      const chunks: Buffer[] = [];
      let received = 0;
      const settle = (outcome: TimestampRefused | Buffer) => {
        clearTimeout(timer);
        closing.signal.removeEventListener('abort', abort);
        signal?.removeEventListener('abort', abort);
        if (Buffer.isBuffer(outcome)) {
          resolve(outcome);
          return;
        }
        reject(outcome); // a second call changes nothing
        stream.destroy();
      };
      const abort = () => settle(new TimestampRefused('aborted', 'the query was aborted'));
      // An own timer instead of got's timeouts, so that the deadline applies in every state of the call.
      const expire = () => settle(new TimestampRefused('deadline', `no complete answer within ${deadlineMs} ms`));
      const timer = setTimeout(expire, deadlineMs);
      closing.signal.addEventListener('abort', abort);
      signal?.addEventListener('abort', abort);
      // The listener stays: an error after the end must not become uncaught. The message may contain the URL with its password.
      stream.on('error', (error: NodeJS.ErrnoException) =>
        settle(new TimestampRefused('unreachable', `the authority could not be reached (${error.code ?? error.name})`)),
      );
      stream.once('response', (response: Response) => {
        const refused = refuseHead(response);
        if (refused) settle(refused);
      });
      stream.on('data', (chunk: Buffer) => {
        received += chunk.length;
        chunks.push(chunk);
        if (received > MAX_ANSWER_BYTES)
          settle(new TimestampRefused('too_long', `the answer is over ${MAX_ANSWER_BYTES} bytes`));
      });
      stream.once('end', () => settle(Buffer.concat(chunks)));
      // got listens for `upgrade`, so Node does not close the socket of a 101
      stream.once('upgrade', (_response: unknown, socket: { destroy: () => void }) => {
        socket.destroy();
        settle(new TimestampRefused('http_status', 'the authority answered HTTP 101'));
      });
    });

  const close = () => {
    closing.abort();
    agent.http.destroy();
    agent.https.destroy();
  };
  return { send, close };
};

type CircuitOptions = {
  /** The circuit opens after this many consecutive failures. */
  failures: number;
  /** It stays open for this long, in milliseconds; then one call tries. */
  restMs: number;
  now: () => Date;
};

/** Runs `call` while the circuit is closed. */
type Circuit = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * Stops calling an authority that does not answer. After `failures` consecutive failures every call fails at once with
 * `circuit_open` for `restMs`; then one call at a time tries until one succeeds. An aborted call does not count as a failure.
 * Each process has its own state.
 */
export const createCircuit = ({ failures, restMs, now }: CircuitOptions): Circuit => {
  let consecutiveFailures = 0;
  let openUntil = 0;
  let trying = false;
  return async (call) => {
    const isTrial = consecutiveFailures >= failures;
    if (isTrial && (trying || now().getTime() < openUntil))
      throw new TimestampRefused(
        'circuit_open',
        `the authority failed ${consecutiveFailures} times in a row; no query is sent for now`,
      );
    if (isTrial) trying = true;
    try {
      const result = await call();
      consecutiveFailures = 0;
      return result;
    } catch (error) {
      if (!(error instanceof TimestampRefused && error.refusal === 'aborted')) {
        consecutiveFailures += 1;
        openUntil = now().getTime() + restMs;
      }
      throw error;
    } finally {
      if (isTrial) trying = false;
    }
  };
};
