import type { CheckRequest, UpstreamPolicy } from './request.js';

type Timing = Pick<
  CheckRequest,
  'state' | 'windowEndsAt' | 'unconfirmedAt' | 'giveUpAt' | 'windowRetries' | 'backgroundRetries'
>;

/** When to repeat the lookup, and the counters after that decision. */
export type Retry = { at: Date; windowRetries: number; backgroundRetries: number };

/** Blocked lookups skip the quick steps: frequent lookups may prolong the block. */
const FIRST_SLOW_STEP = 2;

/**
 * Until when a waiting caller is held for the upstream: for its window, and for a confirmation a window of its own from the
 * first answer.
 */
export const windowEnd = (
  request: Pick<CheckRequest, 'windowEndsAt' | 'unconfirmedAt'>,
  policy: Pick<UpstreamPolicy, 'windowMs'>,
): Date =>
  request.unconfirmedAt === null
    ? request.windowEndsAt
    : new Date(Math.max(request.windowEndsAt.getTime(), request.unconfirmedAt.getTime() + policy.windowMs));

/**
 * The next lookup after one without an answer. `pace`: `quick` uses the window's delays while a caller waits and delays are
 * left; `background` and `slow` do not. Not before `notBefore` (the upstream's Retry-After), and never later than `giveUpAt`,
 * when the request is abandoned instead.
 */
export const planRetry = (
  request: Timing,
  policy: UpstreamPolicy,
  now: Date,
  pace: 'quick' | 'background' | 'slow',
  notBefore: Date = now,
): Retry => {
  const end = windowEnd(request, policy);
  const quickDelay = policy.windowRetryDelaysMs[request.windowRetries];
  if (request.state === 'waiting' && pace === 'quick' && quickDelay !== undefined) {
    const at = new Date(Math.max(now.getTime() + quickDelay, notBefore.getTime()));
    if (at < end) return { at, windowRetries: request.windowRetries + 1, backgroundRetries: request.backgroundRetries };
  }
  const last = policy.backgroundRetryDelaysMs.length - 1;
  const step = pace === 'slow' ? Math.max(request.backgroundRetries, FIRST_SLOW_STEP) : request.backgroundRetries;
  const delay = policy.backgroundRetryDelaysMs[Math.min(step, last)] ?? 0;
  const from = request.state === 'waiting' ? Math.max(now.getTime(), end.getTime()) : now.getTime();
  const at = Math.min(
    Math.max(from + delay, notBefore.getTime()),
    request.giveUpAt?.getTime() ?? Number.POSITIVE_INFINITY,
  );
  return { at: new Date(at), windowRetries: request.windowRetries, backgroundRetries: request.backgroundRetries + 1 };
};
