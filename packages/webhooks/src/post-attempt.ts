import type { LookupFunction } from 'node:net';
import type { ConnectionPool } from './connections.js';
import { errorCode } from './resolve-name.js';

/**
 * Whole milliseconds of each phase of an attempt; null when the phase did not occur (a literal, a reused connection).
 */
type AttemptTimings = {
  dnsMs: number | null;
  tcpMs: number | null;
  tlsMs: number | null;
  /** From the ready connection to the head of the answer. */
  firstByteMs: number | null;
  totalMs: number;
};

/** The class that an attempt's error begins with. */
type AttemptErrorClass =
  | 'ADDRESS_REFUSED'
  | 'DNS'
  | 'TIMEOUT'
  | 'TLS'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'CONNECTION_FAILED'
  | 'PROTOCOL'
  | 'ABORTED';

export type AttemptResult = {
  at: Date;
  /** The answer's status; null when no head arrived. */
  statusCode: number | null;
  durationMs: number;
  /**
   * `CLASS: sentence`; null when the answer arrived completely (or up to the read limit), whatever its status. With a
   * status it describes what happened to the body.
   */
  error: string | null;
  /** The address of the connection, or the first one tried; null when there was none. */
  address: string | null;
  timings: AttemptTimings;
  /** The first bytes of the answer's body as received, not decompressed. */
  answer: Buffer;
  answerTruncated: boolean;
};

/**
 * Ends an attempt from outside. It has one listener at a time, the current phase of the attempt. An `AbortController` for
 * each attempt would cost as much as the signatures.
 */
export type AttemptStop = {
  /** Ends the attempt; only the first reason counts. */
  stop: (reason: string) => void;
  /** Sets the listener, which is called at once if the attempt was already stopped; null removes it. */
  onStop: (listener: ((reason: string) => void) | null) => void;
};

export const createAttemptStop = (): AttemptStop => {
  let stopped: string | null = null;
  let current: ((reason: string) => void) | null = null;
  return {
    stop: (reason) => {
      if (stopped !== null) return;
      stopped = reason;
      current?.(reason);
    },
    onStop: (listener) => {
      current = listener;
      if (stopped !== null) listener?.(stopped);
    },
  };
};

const MAX_LENGTH = 300;

const CLOSED = 'CONNECTION_RESET: the receiver closed the connection before its answer was complete';
/** The error of an answer 101, of which only the head is read. */
const SWITCHED_PROTOCOLS = 'PROTOCOL: the receiver switched protocols';

/** Codes of OpenSSL's certificate check; they have no common prefix. Source: Node's documentation of `node:tls`. */
const CERTIFICATE_CODES =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|EPROTO)/;

const SENTENCES = new Map<string, `${AttemptErrorClass}: ${string}`>([
  ['ECONNREFUSED', 'CONNECTION_REFUSED: the receiver accepts no connection'],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['ETIMEDOUT', 'CONNECTION_FAILED: no answer to the connection request'],
  ['EHOSTUNREACH', 'CONNECTION_FAILED: the host cannot be reached'],
  ['ENETUNREACH', 'CONNECTION_FAILED: the network cannot be reached'],
  // undici asserts that a status is at least 100.
  ['ERR_ASSERTION', 'PROTOCOL: the answer is not HTTP (its status is below 100)'],
  ['UND_ERR_HEADERS_OVERFLOW', "PROTOCOL: the answer's headers are too large"],
]);

/** All of undici's socket errors share one code; their message differs. */
const SOCKET_SENTENCES = new Map<string, `${AttemptErrorClass}: ${string}`>([
  ['bad upgrade', SWITCHED_PROTOCOLS],
  ['bad response', 'PROTOCOL: the receiver sent an answer, or an interim one (100), without a request'],
]);

/**
 * Removes control characters and lone surrogates, which the database refuses, and limits the length: the text may
 * come from a certificate.
 */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_LENGTH)
    .toWellFormed();

/** Undici reports this also when the connection ends before the body. */
const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

/**
 * Describes a failed connection or exchange for the delivery log: a fixed class, then a sentence. `headRead`: whether the
 * head of the answer had arrived.
 */
export const describeFailure = (error: Error, headRead: boolean): string => {
  const code = errorCode(error) ?? error.name;
  const sentence = SENTENCES.get(code);
  if (sentence) return sentence;
  if (code === 'UND_ERR_SOCKET') return SOCKET_SENTENCES.get(error.message) ?? CLOSED;
  if (code === 'ERR_ADDRESS_REFUSED') return clean(`ADDRESS_REFUSED: ${error.message}`);
  if (CERTIFICATE_CODES.test(code)) return clean(`TLS: ${error.message} (${code})`);
  if (headRead && (code === LENGTH_MISMATCH || error.message.includes('Invalid EOF state'))) return CLOSED;
  if (code === LENGTH_MISMATCH) return 'PROTOCOL: the answer is not HTTP (its lengths contradict each other)';
  if (error.name === 'HTTPParserError') return clean(`PROTOCOL: the answer is not HTTP (${error.message})`);
  return clean(`CONNECTION_FAILED: ${error.message} (${code})`);
};

/** The result of the part of an attempt after its host was validated. */
export type Posted = Pick<AttemptResult, 'statusCode' | 'error' | 'address' | 'answer' | 'answerTruncated'> &
  Pick<AttemptTimings, 'tcpMs' | 'tlsMs' | 'firstByteMs'>;

type PostDeps = { connections: ConnectionPool; maxAnswerBytes: number };

type Post = {
  url: URL;
  lookup: LookupFunction;
  headers: Record<string, string>;
  body: string;
  /** Ends the attempt. The reason becomes the error, with the phase in which the attempt ended. */
  stop: AttemptStop;
};

/**
 * Answers up to this size are read to their end, so that the connection can be reused; it is closed after a longer
 * one.
 */
const DRAINED_BYTES = 8 * 1024;
const NOTHING = Buffer.alloc(0);

const span = (from: number | null, to: number | null) => (from === null || to === null ? null : Math.round(to - from));

/**
 * Sends the body once and reads the answer up to the limit. Never rejects. It uses undici's plain dispatcher, which
 * follows no redirects, does not decompress and does not retry.
 */
export const postAttempt =
  ({ connections, maxAnswerBytes }: PostDeps) =>
  ({ url, lookup, headers, body, stop }: Post): Promise<Posted> =>
    new Promise((resolve) => {
      const limit = Math.max(DRAINED_BYTES, maxAnswerBytes);
      const connection = connections.acquire(url, lookup);
      const acquiredAt = performance.now();
      const chunks: Buffer[] = [];
      let received = 0;
      let statusCode: number | null = null;
      let head: number | null = null;
      let settled = false;

      const phase = () => {
        const { start, tcp, ready } = connection.openedAt;
        if (head !== null) return 'while reading the answer';
        if (ready !== null || start === null) return 'while waiting for an answer';
        return tcp === null ? 'while connecting' : 'during the TLS handshake';
      };
      const settle = (error: string | null, whole: boolean) => {
        if (settled) return;
        settled = true;
        stop.onStop(null);
        if (whole) connection.release();
        else connection.destroy();
        const { start, tcp, ready } = connection.openedAt;
        resolve({
          statusCode,
          error,
          address: connection.address,
          tcpMs: span(start, tcp),
          tlsMs: span(tcp, ready),
          firstByteMs: span(ready ?? acquiredAt, head),
          answer: chunks.length === 0 ? NOTHING : Buffer.concat(chunks),
          answerTruncated: received > maxAnswerBytes || (statusCode !== null && !whole),
        });
      };

      stop.onStop((reason) => settle(`${reason} (${phase()})`, false));
      if (settled) return;
      connection.send(
        { path: `${url.pathname}${url.search}`, method: 'POST', headers, body: Buffer.from(body) },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, status) => {
            if (status < 200) return; // an interim answer; the final one follows
            head = performance.now();
            statusCode = status;
          },
          onResponseData: (_controller, chunk) => {
            const remaining = maxAnswerBytes - received;
            received += chunk.byteLength;
            if (remaining > 0) chunks.push(chunk.subarray(0, remaining));
            if (received > limit) settle(null, false);
          },
          onResponseEnd: () => settle(null, true),
          onResponseError: (_controller, error) => {
            const description = describeFailure(error, head !== null);
            if (description === SWITCHED_PROTOCOLS) statusCode = 101;
            settle(description, false);
          },
        },
      );
    });

/**
 * Whether the event counts as delivered: the head of a 2xx answer arrived within the deadline. A body that stalls or is
 * cut off afterwards does not change that; `error` describes it.
 */
export const attemptSucceeded = ({ statusCode }: Pick<AttemptResult, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;
