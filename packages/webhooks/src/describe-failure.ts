import type { AttemptErrorClass } from './attempt-result.js';
import { errorCode } from './error-code.js';

const MAX_LENGTH = 300;

/** Codes of OpenSSL's certificate check that have no prefix in common. Source: Node's documentation of `node:tls`. */
const CERTIFICATE_CODES =
  /^(CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|HOSTNAME_MISMATCH|ERR_TLS_|ERR_SSL_|EPROTO)/;

const SENTENCES = new Map<string, `${AttemptErrorClass}: ${string}`>([
  ['ECONNREFUSED', 'CONNECTION_REFUSED: the receiver accepts no connection'],
  ['ECONNRESET', 'CONNECTION_RESET: the receiver closed the connection before its answer was complete'],
  ['EPIPE', 'CONNECTION_RESET: the receiver closed the connection before its answer was complete'],
  ['ETIMEDOUT', 'CONNECTION_FAILED: no answer to the connection request'],
  ['EHOSTUNREACH', 'CONNECTION_FAILED: the host cannot be reached'],
  ['ENETUNREACH', 'CONNECTION_FAILED: the network cannot be reached'],
  ['HPE_HEADER_OVERFLOW', "PROTOCOL: the answer's headers are too large"],
  ['ERR_UPGRADED', 'PROTOCOL: the receiver switched protocols'],
]);

/** Without control characters and lone surrogates, which the database refuses, and of bounded length: certificates write here. */
const clean = (text: string): string =>
  text
    .toWellFormed()
    .replace(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_LENGTH)
    .toWellFormed();

/** What the log says about a connection or exchange that failed: a fixed class, then what happened. */
export const describeFailure = (error: Error): string => {
  const code = errorCode(error) ?? error.name;
  const sentence = SENTENCES.get(code);
  if (sentence) return sentence;
  if (code === 'ERR_ADDRESS_REFUSED') return clean(`ADDRESS_REFUSED: ${error.message}`);
  if (CERTIFICATE_CODES.test(code)) return clean(`TLS: ${error.message} (${code})`);
  if (code.startsWith('HPE_')) return `PROTOCOL: the answer is not HTTP (${code})`;
  return clean(`CONNECTION_FAILED: ${error.message} (${code})`);
};
