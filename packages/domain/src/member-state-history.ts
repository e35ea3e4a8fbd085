import { addBuckets, type LookupEnd, type MinuteTally, percentile } from './member-state-health.js';
import type { MemberState } from './member-states.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long the counts per hour are stored: a year and a month, so that two years can be compared. */
export const HISTORY_RETENTION_MS = 400 * DAY_MS;

/** The longest period that one call of `GET /v1/status/history` reads, and the period without `from`. */
export const HISTORY_PERIOD_MS = { max: 31 * DAY_MS, default: DAY_MS } as const;

/** The period of the public status page. */
export const PUBLIC_HISTORY_MS = 30 * DAY_MS;

/** Lookups of one member state within one hour (UTC), by how they ended, and their durations as in `MinuteTally`. */
export type HourTally = { memberState: MemberState; hour: Date; buckets: number[] } & Record<LookupEnd, number>;

const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);

/** Sums counts per minute up to counts per hour. */
export const hourTallies = (tallies: readonly MinuteTally[]): HourTally[] => {
  const hours = new Map<string, HourTally>();
  for (const { memberState, minute, end, lookups, buckets } of tallies) {
    const hour = hourOf(minute);
    const key = `${memberState} ${hour.getTime()}`;
    const sum = hours.get(key) ?? { memberState, hour, answered: 0, saturated: 0, unavailable: 0, buckets: [] };
    sum[end] += lookups;
    addBuckets(sum.buckets, buckets);
    hours.set(key, sum);
  }
  return [...hours.values()];
};

/** One hour of one member state, as the API shows it. Hours without a lookup have no entry. */
export type HistoryEntry = { memberState: MemberState; hour: Date; lookups: number } & Record<LookupEnd, number> & {
    p50Ms: number | null;
    p95Ms: number | null;
  };

export const historyEntry = ({ buckets, ...tally }: HourTally): HistoryEntry => ({
  ...tally,
  lookups: tally.answered + tally.saturated + tally.unavailable,
  p50Ms: percentile(buckets, 0.5),
  p95Ms: percentile(buckets, 0.95),
});
