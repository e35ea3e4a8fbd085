import type { CheckSubject } from '../check/check.js';
import type { Answer } from '../check/upstream.js';

/**
 * `waiting`: a caller waits for it. `pending`: answered 202. `completed`: a check exists. `abandoned`: ended without a check.
 * `withdrawn`: refused while its caller waited (INVALID_REQUESTER, TOO_MANY_PENDING), or its caller was lost; it was never
 * promised and cannot be read.
 */
export type RequestState = 'waiting' | 'pending' | 'completed' | 'abandoned' | 'withdrawn';

/** `direct`: a call of the API. `batch`: lines of a file. `watch`: a watched number. Only direct requests are answered 202 and count as pending. */
export type RequestOrigin = 'direct' | 'batch' | 'watch';

/** A request as the worker sees it. Ids are UUIDs. */
export type CheckRequest = CheckSubject & {
  accountId: string;
  accountDisabled: boolean;
  origin: RequestOrigin;
  state: RequestState;
  national: string;
  createdAt: Date;
  windowEndsAt: Date;
  acceptedAt: Date | null;
  giveUpAt: Date | null;
  dueAt: Date;
  lookupStartedAt: Date | null;
  attempts: number;
  windowRetries: number;
  backgroundRetries: number;
  lastError: string | null;
  reason: string | null;
  unconfirmed: Answer | null;
  unconfirmedAt: Date | null;
  /** From now on the lookups carry the number alone, because VIES refused one that carried more. */
  numberAlone: boolean;
  answer: Answer | null;
  checkId: string | null;
};

/** The retry policy of one request. All figures in milliseconds. */
export type UpstreamPolicy = {
  /** UPSTREAM_WINDOW: how long a direct call waits for the upstream before it is answered 202. */
  windowMs: number;
  /** UPSTREAM_RETRY_DELAYS: between lookups while the caller waits; the slot is free meanwhile. */
  windowRetryDelaysMs: readonly number[];
  /** BACKGROUND_RETRY_DELAYS: between lookups after that; the last one repeats. */
  backgroundRetryDelaysMs: readonly number[];
  /** BACKGROUND_GIVE_UP_AFTER: from the first lookup to abandonment; for test keys from the 202. */
  giveUpAfterMs: number;
  /** BACKPRESSURE_AFTER: a longer wait for a slot is reported to the caller. */
  backpressureAfterMs: number;
};

/** Enrichment ends after this; together with the window it bounds a whole check. */
export const ENRICHMENT_DEADLINE_MS = 8_000;

/** The worst case of a whole check with confirmation and enrichment. */
export const CHECK_DEADLINE_MS = 48_000;

/** The policy of test keys: 202 after two seconds, background answer three later, abandoned five later. */
export const TEST_POLICY: UpstreamPolicy = {
  windowMs: 2_000,
  windowRetryDelaysMs: [500, 1_000],
  backgroundRetryDelaysMs: [3_000],
  giveUpAfterMs: 5_000,
  backpressureAfterMs: 5_000,
};

/** Background requests an account may have pending. */
export const MAX_PENDING = 200;
