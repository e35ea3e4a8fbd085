import { MEMBER_STATES, type MemberState } from '../member-states.js';
import { type AskEnd, type MinuteTally, percentile } from './tally.js';

/** What the service itself saw of one member state lately. Shares are of all asks, null where there was none. */
export type MemberStateHealth = {
  memberState: MemberState;
  health: 'ok' | 'degraded' | 'down' | 'unknown';
  asks: number;
  answered: number | null;
  saturated: number | null;
  unavailable: number | null;
  p50Ms: number | null;
  p95Ms: number | null;
  queueDepth: number;
  oldestWaitMs: number | null;
};

/** Requests of a member state that are due and have no answer. */
export type QueueDepth = { memberState: MemberState; depth: number; oldestDueAt: Date };

/** How far back `GET /v1/status` looks. */
export const STATUS_WINDOW_MS = 15 * 60_000;

const OK_FROM = 0.9;
const DOWN_BELOW = 0.1;

const rounded = (share: number): number => Math.round(share * 1_000) / 1_000;

/** Sums the minutes and queues up, one entry a member state, quiet ones included. */
export const memberStateHealth = (
  tallies: readonly MinuteTally[],
  depths: readonly QueueDepth[],
  now: Date,
): MemberStateHealth[] =>
  MEMBER_STATES.map((memberState) => {
    const mine = tallies.filter((tally) => tally.memberState === memberState);
    const asks = mine.reduce((sum, tally) => sum + tally.asks, 0);
    const share = (end: AskEnd) =>
      asks === 0 ? null : rounded(mine.reduce((sum, tally) => sum + (tally.end === end ? tally.asks : 0), 0) / asks);
    const buckets = mine.reduce<number[]>((sum, tally) => {
      for (const [n, count] of tally.buckets.entries()) sum[n] = (sum[n] ?? 0) + count;
      return sum;
    }, []);
    const queue = depths.find((depth) => depth.memberState === memberState);
    const answered = share('answered');
    return {
      memberState,
      health: answered === null ? 'unknown' : answered >= OK_FROM ? 'ok' : answered < DOWN_BELOW ? 'down' : 'degraded',
      asks,
      answered,
      saturated: share('saturated'),
      unavailable: share('unavailable'),
      p50Ms: percentile(
        Array.from(buckets, (n) => n ?? 0),
        0.5,
      ),
      p95Ms: percentile(
        Array.from(buckets, (n) => n ?? 0),
        0.95,
      ),
      queueDepth: queue?.depth ?? 0,
      oldestWaitMs: queue ? Math.max(0, now.getTime() - queue.oldestDueAt.getTime()) : null,
    };
  });
