import type { AskNoAnswer } from '@vat/domain';
import { noAnswer } from './no-answer.js';

const SENTENCES = new Map<string, string>([
  ['ECONNRESET', 'connection reset'],
  ['EPIPE', 'connection reset'],
  ['ECONNREFUSED', 'connection refused'],
  ['ENOTFOUND', 'host name not found'],
  ['EAI_AGAIN', 'host name not resolved'],
  ['EHOSTUNREACH', 'host not reachable'],
  ['ENETUNREACH', 'network not reachable'],
  ['ERR_INVALID_URL', 'the upstream address is not an http(s) URL'],
  ['ERR_UPGRADED', 'HTTP 101'],
  ['ERR_HTTP_CONTENT_LENGTH_MISMATCH', 'an answer cut short'],
]);

/** What a failed exchange means for the ask: always no answer, a time-out only where the connection itself timed out. */
export const describeFailure = (error: Error): AskNoAnswer => {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  if (code === 'ETIMEDOUT') return noAnswer('timeout', 'connection timed out');
  if (code.startsWith('HPE_')) return noAnswer('unavailable', 'an answer that is not HTTP');
  return noAnswer('unavailable', SENTENCES.get(code) ?? `connection failed (${code})`);
};
