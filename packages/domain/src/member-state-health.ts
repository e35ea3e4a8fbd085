import { MEMBER_STATES, type MemberState } from './member-states.js';

/** Upper bounds of the duration buckets, in milliseconds; the last bucket is open. Each bound is about half as large again as the one before. */
export const DURATION_BOUNDS_MS = [
  5, 10, 15, 25, 40, 60, 90, 135, 200, 300, 450, 675, 1_000, 1_500, 2_250, 3_400, 5_000, 7_500, 11_000, 16_500, 25_000,
] as const;

/** A typical duration of each bucket: the geometric mean of its bounds. In milliseconds. */
export const TYPICAL_DURATIONS_MS: readonly number[] = [
  ...DURATION_BOUNDS_MS.map((bound, n) => Math.sqrt(bound * (DURATION_BOUNDS_MS[n - 1] ?? bound / 2))),
  30_000,
];

/** How a lookup ended, for the health of the upstream. */
export type LookupEnd = 'answered' | 'saturated' | 'unavailable';

/**
 * Lookups of one member state within one minute that ended one way. `lines`: how many of them ended a request of a batch.
 * `buckets` counts durations by {@link DURATION_BOUNDS_MS}.
 */
export type MinuteTally = {
  memberState: MemberState;
  minute: Date;
  end: LookupEnd;
  lookups: number;
  lines: number;
  buckets: number[];
};

export const bucketOf = (durationMs: number): number => {
  const bucket = DURATION_BOUNDS_MS.findIndex((bound) => durationMs <= bound);
  return bucket === -1 ? DURATION_BOUNDS_MS.length : bucket;
};

/** Adds counted durations to others, bucket by bucket. */
export const addBuckets = (buckets: number[], counts: readonly number[]): void => {
  for (const [n, count] of counts.entries()) buckets[n] = (buckets[n] ?? 0) + count;
};

/** The duration below which `share` of the counted lookups lie, to the accuracy of the buckets; null when none were counted. */
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

/**
 * `degraded`: some lookups got no answer, or nearly all were refused as too many; `down`: nearly none was answered, for other reasons.
 * `unknown`: there were no lookups.
 */
export type Health = 'ok' | 'degraded' | 'down' | 'unknown';

/** The recent health of one member state, as this service observed it. Shares are of all lookups, null where there was none. */
export type MemberStateHealth = {
  memberState: MemberState;
  health: Health;
  lookups: number;
  answered: number | null;
  saturated: number | null;
  unavailable: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  queueDepth: number;
  oldestWaitMs: number | null;
  oldestWaitsMs: Record<WaitClass, number | null>;
};

/** What waits for a lookup: calls whose callers wait, calls that were answered 202, lines of batches, runs of watches. */
export const WAIT_CLASSES = ['interactive', 'background', 'batch', 'watch'] as const;
export type WaitClass = (typeof WAIT_CLASSES)[number];

/**
 * Requests of a member state and a class that are due and have no answer. `dispatched`: they have a job; lines wait as rows
 * before, and are not counted in `depth` then.
 */
export type Wait = {
  memberState: MemberState;
  class: WaitClass;
  dispatched: boolean;
  depth: number;
  oldestDueAt: Date;
};

/** The requests that are counted for the depth of a queue, by class: more show as this many. */
export const COUNTED_WAITING = 10_000;

/** The period that `GET /v1/status` covers. */
export const STATUS_WINDOW_MS = 15 * 60_000;

const OK_FROM = 0.9;
const DOWN_BELOW = 0.1;

/** The health that shares of lookups show; null when there was no lookup. A member state that refuses lookups as too many works. */
export const healthOf = (answered: number | null, saturated: number | null): Health => {
  if (answered === null) return 'unknown';
  if (answered >= OK_FROM) return 'ok';
  return answered < DOWN_BELOW && (saturated ?? 0) < (1 - answered) / 2 ? 'down' : 'degraded';
};

const rounded = (share: number): number => Math.round(share * 1_000) / 1_000;

/**
 * Sums minutes and queues up: one entry a member state, also for those without lookups. `down`: the member states that are down now,
 * whatever was answered before; null when that is unknown.
 */
export const memberStateHealth = (
  tallies: readonly MinuteTally[],
  waits: readonly Wait[],
  down: ReadonlySet<MemberState> | null,
  now: Date,
): MemberStateHealth[] =>
  MEMBER_STATES.map((memberState) => {
    const mine = tallies.filter((tally) => tally.memberState === memberState);
    const lookups = mine.reduce((sum, tally) => sum + tally.lookups, 0);
    const share = (end: LookupEnd) =>
      lookups === 0
        ? null
        : rounded(mine.reduce((sum, tally) => sum + (tally.end === end ? tally.lookups : 0), 0) / lookups);
    const buckets: number[] = [];
    for (const tally of mine) addBuckets(buckets, tally.buckets);
    const queue = waits.filter((wait) => wait.memberState === memberState);
    const oldest = (of: readonly Wait[]): number | null =>
      of.length === 0
        ? null
        : Math.max(0, now.getTime() - Math.min(...of.map(({ oldestDueAt }) => oldestDueAt.getTime())));
    const [answered, saturated] = [share('answered'), share('saturated')];
    return {
      memberState,
      health: down?.has(memberState) ? 'down' : healthOf(answered, saturated),
      lookups,
      answered,
      saturated,
      unavailable: share('unavailable'),
      p50Ms: percentile(buckets, 0.5),
      p95Ms: percentile(buckets, 0.95),
      queueDepth: queue.reduce((sum, { depth }) => sum + depth, 0),
      oldestWaitMs: oldest(queue),
      oldestWaitsMs: Object.fromEntries(
        WAIT_CLASSES.map((name) => [name, oldest(queue.filter((wait) => wait.class === name))]),
      ) as Record<WaitClass, number | null>,
    };
  });
