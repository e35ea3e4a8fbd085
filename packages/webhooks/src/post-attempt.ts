import type { LookupFunction } from 'node:net';
import type { ConnectionPool } from './connections.js';
import { errorCode } from './resolve-name.js';

/** Milliseconds of each phase of an attempt, integers; null where it did not take place (a literal, a kept connection). */
export type AttemptTimings = {
  dnsMs: number | null;
  tcpMs: number | null;
  tlsMs: number | null;
  /** From the connection being ready to the head of the answer. */
  firstByteMs: number | null;
  totalMs: number;
};

/** Classes an attempt's error begins with. */
export type AttemptErrorClass =
  | 'ADDRESS_REFUSED'
  | 'DNS'
  | 'TIMEOUT'
  | 'TLS'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'CONNECTION_FAILED'
  | 'PROTOCOL'
  | 'ABORTED';

/** What became of one attempt. */
export type AttemptResult = {
  at: Date;
  /** The answer's status; null when no head arrived. */
  statusCode: number | null;
  durationMs: number;
  /**
   * `CLASS: sentence`; null when an answer arrived whole (or as far as it is read), whatever its status. Beside a status:
   * what happened to the body.
   */
  error: string | null;
  /** The address connected to, or tried first; null when none was. */
  address: string | null;
  timings: AttemptTimings;
  /** The first bytes of the answer's body as they came, not decompressed. */
  answer: Buffer;
  answerTruncated: boolean;
};

/**
 * How an attempt is ended from outside. One listens at a time: whoever works on the attempt. An `AbortController` each
 * would cost as much as the signatures.
 */
export type AttemptStop = {
  /** Ends the attempt; only the first reason counts. */
  stop: (reason: string) => void;
  /** Sets who is told, at once if it has been ended; null for nobody. */
  onStop: (listener: ((reason: string) => void) | null) => void;
};

export const createAttemptStop = (): AttemptStop => {
  let stopped: string | null = null;
  let listening: ((reason: string) => void) | null = null;
  return {
    stop: (reason) => {
      if (stopped !== null) return;
      stopped = reason;
      listening?.(reason);
    },
    onStop: (listener) => {
      listening = listener;
      if (stopped !== null) listener?.(stopped);
    },
  };
};

const MAX_LENGTH = 300;

const CLOSED = 'CONNECTION_RESET: the receiver closed the connection before its answer was complete';
/** What is said of an answer 101, whose head is all that came of it. */
export const SWITCHED_PROTOCOLS = 'PROTOCOL: the receiver switched protocols';

/** Codes of OpenSSL's certificate check that have no prefix in common. Source: Node's documentation of `node:tls`. */
const CERTIFICATE_CODES =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|EPROTO)/;

const SENTENCES = new Map<string, `${AttemptErrorClass}: ${string}`>([
  ['ECONNREFUSED', 'CONNECTION_REFUSED: the receiver accepts no connection'],
  ['ECONNRESET', CLOSED],
  ['EPIPE', CLOSED],
  ['ETIMEDOUT', 'CONNECTION_FAILED: no answer to the connection request'],
  ['EHOSTUNREACH', 'CONNECTION_FAILED: the host cannot be reached'],
  ['ENETUNREACH', 'CONNECTION_FAILED: the network cannot be reached'],
  ['UND_ERR_HEADERS_OVERFLOW', "PROTOCOL: the answer's headers are too large"],
]);

/** What undici finds out about a connection has one code; its message tells what. */
const SOCKET_SENTENCES = new Map<string, `${AttemptErrorClass}: ${string}`>([
  ['bad upgrade', SWITCHED_PROTOCOLS],
  ['bad response', 'PROTOCOL: the receiver sent an answer, or an interim one (100), that nobody had asked for'],
]);

/** Without control characters and lone surrogates, which the database refuses, and of bounded length: certificates write here. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_LENGTH)
    .toWellFormed();

/** Undici's parser counts what came against the length announced, also when it never got as far as the body. */
const LENGTH_MISMATCH = 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';

/**
 * What the log says about a connection or exchange that failed: a fixed class, then what happened. `headRead`: whether the
 * head of the answer had come.
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

/** The part of an attempt after its host was judged. */
export type Posted = Pick<AttemptResult, 'statusCode' | 'error' | 'address' | 'answer' | 'answerTruncated'> &
  Pick<AttemptTimings, 'tcpMs' | 'tlsMs' | 'firstByteMs'>;

type PostDeps = { connections: ConnectionPool; maxAnswerBytes: number };

type Post = {
  url: URL;
  lookup: LookupFunction;
  headers: Record<string, string>;
  body: string;
  /** Ends the attempt; its reason becomes the error, with the phase it ended in. */
  stop: AttemptStop;
};

/** Answers up to this size are read to their end, so that the connection can be kept; longer ones cost it. */
const DRAINED_BYTES = 8 * 1024;
const NOTHING = Buffer.alloc(0);

const span = (from: number | null, to: number | null) => (from === null || to === null ? null : Math.round(to - from));

/**
 * Sends the body once and reads the answer as far as it is kept or drained. Never rejects. Undici's bare dispatcher, since
 * it does none of what must not happen: it follows no redirect, unpacks nothing, repeats nothing that has been sent.
 */
export const postAttempt =
  ({ connections, maxAnswerBytes }: PostDeps) =>
  ({ url, lookup, headers, body, stop }: Post): Promise<Posted> =>
    new Promise((resolve) => {
      const limit = Math.max(DRAINED_BYTES, maxAnswerBytes);
      const connection = connections.take(url, lookup);
      const takenAt = performance.now();
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
          firstByteMs: span(ready ?? takenAt, head),
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
            if (status < 200) return; // an interim answer; the real one follows
            head = performance.now();
            statusCode = status;
          },
          onResponseData: (_controller, chunk) => {
            const room = maxAnswerBytes - received;
            received += chunk.byteLength;
            if (room > 0) chunks.push(chunk.subarray(0, room));
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
 * Whether the event counts as delivered: the head of a 2xx arrived within the deadline. A body that stalls or breaks off
 * after it changes nothing; the result's `error` says so. Source: contract part 1 §3.
 */
export const attemptSucceeded = ({ statusCode }: Pick<AttemptResult, 'statusCode'>): boolean =>
  statusCode !== null && statusCode >= 200 && statusCode < 300;
