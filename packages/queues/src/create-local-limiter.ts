import type { RateDecision, RateLimit } from './rate-limit.js';

const MOST_KEYS = 50_000;

export type LocalLimiter = {
  judge: (key: string) => RateDecision;
  /** Counts a call that was admitted elsewhere and goes on in `waitMs`. */
  note: (key: string, waitMs: number) => void;
};

/** The same rule as the shared limiter, within one process. `now`: a monotonic clock in milliseconds. */
export const createLocalLimiter = ({ calls, windowMs, holdMs }: RateLimit, now: () => number): LocalLimiter => {
  /** Admissions of a key, oldest first, at most `calls`. */
  const admissions = new Map<string, number[]>();

  const timesOf = (key: string): number[] => {
    const known = admissions.get(key) ?? [];
    // Keys are kept in the order of their last use, so that the one forgotten is the one unused the longest.
    admissions.delete(key);
    admissions.set(key, known);
    for (const oldest of admissions.keys()) {
      if (admissions.size <= MOST_KEYS) break;
      admissions.delete(oldest);
    }
    return known;
  };
  const push = (times: number[], at: number): void => {
    times.push(at);
    if (times.length > calls) times.shift();
  };

  return {
    judge: (key) => {
      const times = timesOf(key);
      const at = now();
      const limiting = times.length < calls ? at : (times[0] ?? at) + windowMs;
      const admittedAt = Math.max(at, times.at(-1) ?? at, limiting);
      if (admittedAt - at > holdMs) return { admitted: false, waitMs: admittedAt - at, remaining: 0 };
      push(times, admittedAt);
      const used = times.filter((time) => time + windowMs > admittedAt).length;
      return { admitted: true, waitMs: admittedAt - at, remaining: calls - used };
    },
    note: (key, waitMs) => push(timesOf(key), now() + waitMs),
  };
};
