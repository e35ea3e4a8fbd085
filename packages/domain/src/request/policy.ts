/** How long and how often the upstream is asked for one request. All figures in milliseconds. */
export type UpstreamPolicy = {
  /** UPSTREAM_WINDOW: how long a direct call waits for the upstream before it is answered 202. */
  windowMs: number;
  /** UPSTREAM_RETRY_DELAYS: between asks while the caller waits; the slot is free meanwhile. */
  windowRetryDelaysMs: readonly number[];
  /** BACKGROUND_RETRY_DELAYS: between asks after that; the last one repeats. */
  backgroundRetryDelaysMs: readonly number[];
  /** BACKGROUND_GIVE_UP_AFTER: from acceptance to abandonment. */
  giveUpAfterMs: number;
  /** BACKPRESSURE_AFTER: a longer wait for a slot is told to the caller. */
  backpressureAfterMs: number;
};

/** Enrichment ends after this; it bounds the whole of a check together with the window. */
export const ENRICHMENT_DEADLINE_MS = 8_000;

/** The worst case of a whole check with confirmation and enrichment. Source: contract part 1 §8, timing 2. */
export const CHECK_DEADLINE_MS = 48_000;

/** The clock of test keys: 202 after two seconds, background answer three later, abandoned five later. Source: contract part 2 §4. */
export const TEST_POLICY: UpstreamPolicy = {
  windowMs: 2_000,
  windowRetryDelaysMs: [500, 1_000],
  backgroundRetryDelaysMs: [3_000],
  giveUpAfterMs: 5_000,
  backpressureAfterMs: 5_000,
};

/** Background requests an account may have pending. Source: contract part 1 §8. */
export const MAX_PENDING = 200;
