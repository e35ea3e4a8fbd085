import type { AbandonReason, CheckRequest, UpstreamPolicy } from './request.js';

/** A request that was never looked up ends after this long, in milliseconds. Its end alarms the operator. */
export const NEVER_ASKED_AFTER_MS = 7 * 24 * 3_600_000;

type Lookups = Pick<CheckRequest, 'attempts' | 'lookupStartedAt'>;

/** Whether a lookup of the request began, now or earlier. */
export const wasLookedUp = ({ attempts, lookupStartedAt }: Lookups): boolean =>
  attempts > 0 || lookupStartedAt !== null;

/** When a request ends that is never looked up. Its first lookup replaces this time. */
export const neverAskedAt = (createdAt: Date): Date => new Date(createdAt.getTime() + NEVER_ASKED_AFTER_MS);

/**
 * When a request is given up from its first lookup on; null in later ones. A test key's request that is looked up while its
 * caller waits is given up a fixed time after its 202 instead.
 */
export const giveUpAtFirstLookup = (
  request: Pick<CheckRequest, 'attempts' | 'test' | 'state'>,
  startedAt: Date,
  policy: Pick<UpstreamPolicy, 'giveUpAfterMs'>,
): Date | null =>
  request.attempts > 0 || (request.test && request.state === 'waiting')
    ? null
    : new Date(startedAt.getTime() + policy.giveUpAfterMs);

/** When a request is given up that is answered 202 now. */
export const giveUpAtAcceptance = (
  request: Lookups & Pick<CheckRequest, 'test' | 'createdAt' | 'giveUpAt'>,
  policy: Pick<UpstreamPolicy, 'giveUpAfterMs'>,
  now: Date,
): Date => {
  if (request.giveUpAt !== null) return request.giveUpAt;
  if (!wasLookedUp(request)) return neverAskedAt(request.createdAt);
  const from = request.test ? now : (request.lookupStartedAt ?? request.createdAt);
  return new Date(from.getTime() + policy.giveUpAfterMs);
};

/** Why a pending request must not be looked up any more; null when it may. */
export const abandonReasonOf = (
  request: Lookups & Pick<CheckRequest, 'state' | 'accountDisabled' | 'giveUpAt'>,
  now: Date,
): AbandonReason | null => {
  if (request.state !== 'pending') return null;
  if (request.accountDisabled) return 'ACCOUNT_DISABLED';
  if (request.giveUpAt === null || request.giveUpAt > now) return null;
  return wasLookedUp(request) ? 'UPSTREAM_NO_ANSWER' : 'NEVER_ASKED';
};
