import type { MemberState } from '../member-states.js';

/** Upper bounds of the duration buckets, in milliseconds; the last bucket is open. Each is half as large again. */
export const DURATION_BOUNDS_MS = [
  5, 10, 15, 25, 40, 60, 90, 135, 200, 300, 450, 675, 1_000, 1_500, 2_250, 3_400, 5_000, 7_500, 11_000, 16_500, 25_000,
] as const;

/** How an ask ended, as far as the upstream's health is concerned. */
export type AskEnd = 'answered' | 'saturated' | 'unavailable';

/** Asks of one member state within one minute that ended one way. `buckets` counts durations by {@link DURATION_BOUNDS_MS}. */
export type MinuteTally = { memberState: MemberState; minute: Date; end: AskEnd; asks: number; buckets: number[] };

/** The bucket of a duration. */
export const bucketOf = (durationMs: number): number => {
  const bucket = DURATION_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return bucket === -1 ? DURATION_BOUNDS_MS.length : bucket;
};

/** The duration below which `share` of what was counted lies, to the accuracy of the buckets; null when nothing was. */
export const percentile = (buckets: readonly number[], share: number): number | null => {
  const total = buckets.reduce((sum, n) => sum + n, 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [bucket, n] of buckets.entries()) {
    seen += n;
    if (seen >= total * share) return DURATION_BOUNDS_MS[bucket] ?? (DURATION_BOUNDS_MS.at(-1) as number);
  }
  return null;
};
