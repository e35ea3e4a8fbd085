import { createHash } from 'node:crypto';
import type { WatchFrequency } from './watch.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The least time between two runs. Half a day less than the interval: a run that began late does not shift the next one. */
export const LEAST_INTERVAL_MS: Readonly<Record<WatchFrequency, number>> = {
  daily: 12 * HOUR_MS,
  weekly: 6.5 * DAY_MS,
};

/**
 * A watch's own moment of the (UTC) day in milliseconds. Taken from a hash of its id, since ids made in one import are
 * alike: so the due watches are spread evenly over the day however they came in.
 */
export const momentOfDay = (watchId: string): number =>
  Number(createHash('sha256').update(watchId).digest().readBigUInt64BE() % BigInt(DAY_MS));

/**
 * When a watch is due after a run that began at `after`: at its own moment of the day, the interval's least time later at
 * the earliest, and not before `notBefore`. It comes less than a day after the later of the two.
 */
export const nextCheckAt = (watchId: string, frequency: WatchFrequency, after: Date, notBefore: Date = after): Date => {
  const earliest = Math.max(after.getTime() + LEAST_INTERVAL_MS[frequency], notBefore.getTime());
  const wait = (momentOfDay(watchId) - (earliest % DAY_MS) + DAY_MS) % DAY_MS;
  return new Date(earliest + wait);
};
