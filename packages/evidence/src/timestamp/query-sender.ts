import { setMaxListeners } from 'node:events';
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { userAgentOf } from '@vat/domain';
import got, { type Response } from 'got';
import { TimestampRefused } from './timestamp.js';

/** Sends one TimeStampReq and gives the whole answer. Rejects with `TimestampRefused` alone. */
export type SendQuery = (query: Uint8Array, signal?: AbortSignal) => Promise<Uint8Array>;

type QuerySenderOptions = {
  /** http or https; user info becomes basic authentication. */
  url: string;
  /** One deadline over name lookup, connecting, TLS, query and the whole answer, in milliseconds. */
  deadlineMs: number;
  userAgent?: string | undefined;
};

/** A sender over connections of its own; `close` ends its queries in flight (as aborted). */
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
 * A sender of queries by HTTP (RFC 3161 §3.4). Proxy variables are ignored, redirects are not followed, nothing is
 * decompressed, an answer is read up to 64 KiB, and nothing is tried twice: when to ask again is the caller's to decide.
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
  setMaxListeners(0, closing.signal); // one listener a query in flight, by design more than Node's ten

  const send: SendQuery = (query, signal) =>
    new Promise((resolve, reject) => {
      if (closing.signal.aborted || signal?.aborted) {
        reject(new TimestampRefused('aborted', 'the query was called off before it was sent'));
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
      const abort = () => settle(new TimestampRefused('aborted', 'the query was called off'));
      // Timed here and not by got, so that it holds whatever state the call is in.
      const late = () => settle(new TimestampRefused('deadline', `no whole answer within ${deadlineMs} ms`));
      const timer = setTimeout(late, deadlineMs);
      closing.signal.addEventListener('abort', abort);
      signal?.addEventListener('abort', abort);
      // Stays on: an error after the end must not become an uncaught one. The message may hold the URL with its password.
      stream.on('error', (error: NodeJS.ErrnoException) =>
        settle(new TimestampRefused('unreachable', `the authority could not be asked (${error.code ?? error.name})`)),
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
      // got listens for `upgrade`, so Node leaves the socket of a 101 to us
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
  /** So many failures in a row open it. */
  failures: number;
  /** So long it stays open, in milliseconds; then one call tries. */
  restMs: number;
  now: () => Date;
};

/** Runs `call` while the circuit is closed. */
type Circuit = <T>(call: () => Promise<T>) => Promise<T>;

/**
 * Stops lookingUp an authority that does not answer: after `failures` in a row every call fails at once with `circuit_open`
 * for `restMs`, then one call at a time tries until one succeeds. An aborted call is no failure. The state is of this
 * process alone.
 */
export const createCircuit = ({ failures, restMs, now }: CircuitOptions): Circuit => {
  let inARow = 0;
  let openUntil = 0;
  let trying = false;
  return async (call) => {
    const isTrial = inARow >= failures;
    if (isTrial && (trying || now().getTime() < openUntil))
      throw new TimestampRefused('circuit_open', `the authority failed ${inARow} times in a row and is left alone`);
    if (isTrial) trying = true;
    try {
      const result = await call();
      inARow = 0;
      return result;
    } catch (error) {
      if (!(error instanceof TimestampRefused && error.refusal === 'aborted')) {
        inARow += 1;
        openUntil = now().getTime() + restMs;
      }
      throw error;
    } finally {
      if (isTrial) trying = false;
    }
  };
};
