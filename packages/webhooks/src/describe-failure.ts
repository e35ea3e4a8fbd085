import type { AttemptErrorClass } from './attempt-result.js';
import { errorCode } from './error-code.js';

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
