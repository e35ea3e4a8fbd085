/**
 * From a failed try for a time-stamp to the next, in milliseconds; the last one repeats, since a stamp is worth having
 * however late. One schedule for checks and anchors alike: 10 s, 1 min, 5 min, 15 min, 1 h.
 */
export const TIMESTAMP_RETRY_DELAYS_MS: readonly number[] = [10_000, 60_000, 300_000, 900_000, 3_600_000];
