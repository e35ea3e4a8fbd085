import type { AbandonReason } from '../delivery/event-bodies.js';
import type { CheckRequest, UpstreamPolicy } from './request.js';

/** A request that was never looked up ends after this long, in milliseconds. Its end alarms the operator. */
export const NEVER_ASKED_AFTER_MS = 7 * 24 * 3_600_000;

type Lookups = Pick<CheckRequest, 'attempts' | 'lookupStartedAt'>;

/** Whether a lookup of the request began, now or earlier. */
const wasLookedUp = ({ attempts, lookupStartedAt }: Lookups): boolean => attempts > 0 || lookupStartedAt !== null;

/** When a request ends that is never looked up. Its first lookup replaces this time. */
export const neverAskedAt = (createdAt: Date): Date => new Date(createdAt.getTime() + NEVER_ASKED_AFTER_MS);

/** When a request is given up from its first lookup on; null in later ones. That of a test key has its time from its 202. */
export const giveUpAtFirstLookup = (
  request: Pick<CheckRequest, 'attempts' | 'test'>,
  startedAt: Date,
  policy: Pick<UpstreamPolicy, 'giveUpAfterMs'>,
): Date | null => (request.attempts > 0 || request.test ? null : new Date(startedAt.getTime() + policy.giveUpAfterMs));

/** When a request is given up that is answered 202 now. */
export const giveUpAtAcceptance = (
  request: Lookups & Pick<CheckRequest, 'test' | 'createdAt' | 'giveUpAt'>,
  policy: Pick<UpstreamPolicy, 'giveUpAfterMs'>,
  now: Date,
): Date => {
  if (request.giveUpAt !== null) return request.giveUpAt;
  if (!request.test && !wasLookedUp(request)) return neverAskedAt(request.createdAt);
  const from = request.test ? now : (request.lookupStartedAt ?? request.createdAt);
  return new Date(from.getTime() + policy.giveUpAfterMs);
};

/** Why a pending request must not be looked up any more; null when it may. */
export const abandonReasonOf = (
  request: Lookups & Pick<CheckRequest, 'state' | 'accountDisabled' | 'giveUpAt' | 'test'>,
  now: Date,
): AbandonReason | null => {
  if (request.state !== 'pending') return null;
  if (request.accountDisabled) return 'ACCOUNT_DISABLED';
  if (request.giveUpAt === null || request.giveUpAt > now) return null;
  if (wasLookedUp(request)) return 'UPSTREAM_NO_ANSWER';
  // The time of a test key's request is short, and a worker that is late must not end it.
  return request.test && neverAskedAt(request.giveUpAt) > now ? null : 'NEVER_ASKED';
};
