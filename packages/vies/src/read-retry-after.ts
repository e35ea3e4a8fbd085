import { type AskOutcome, MAX_RETRY_AFTER_MS, type RetryAfter } from '@vat/domain';
import type { UpstreamAnswer } from './classify-answer.js';

const SECONDS = /^\d{1,9}$/;
/** An HTTP date begins with the name of its day; nothing else is read as a date, `Date.parse` reads nearly everything. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

const dateMs = (text: string | undefined): number =>
  text !== undefined && HTTP_DATE.test(text) ? Date.parse(text.endsWith('GMT') ? text : `${text} GMT`) : Number.NaN;

/** Milliseconds that a Retry-After says, 0 for a moment that has passed, null for what is neither seconds nor a date. */
const readMs = (headers: Record<string, string>, receivedAt: Date): number | null => {
  const value = headers['retry-after']?.trim() ?? '';
  if (SECONDS.test(value)) return Number(value) * 1_000;
  const until = dateMs(value);
  if (Number.isNaN(until)) return null;
  // The upstream's own clock, where it says it: ours may differ by more than the wait.
  const from = dateMs(headers.date?.trim());
  return Math.max(0, until - (Number.isNaN(from) ? receivedAt.getTime() : from));
};

/** Codes that are about the upstream as a whole, or about all of this service's requests. */
const ABOUT_ALL = /^(?:GLOBAL_|SERVICE_UNAVAILABLE$|SERVER_BUSY$|IP_BLOCKED$)/;

/** Which lookups a Retry-After delays. What one number causes, such as a server fault, must not delay the others. */
const scopeOf = (outcome: AskOutcome, status: number): RetryAfter['scope'] => {
  const code = outcome.kind === 'no_answer' ? (outcome.code ?? '') : '';
  if (code.startsWith('MS_')) return 'member_state';
  return ABOUT_ALL.test(code) || status === 429 || status === 503 ? 'global' : 'request';
};

/** The Retry-After of an answer, whatever its status, at most a minute; null where there is none to wait for. Pure. */
export const readRetryAfter = (
  outcome: AskOutcome,
  { status, headers }: Pick<UpstreamAnswer, 'status' | 'headers'>,
  receivedAt: Date,
): RetryAfter | null => {
  const ms = readMs(headers, receivedAt);
  if (ms === null || ms === 0) return null;
  return { ms: Math.min(ms, MAX_RETRY_AFTER_MS), scope: scopeOf(outcome, status) };
};
