import { defineScript, type RedisConnection } from './connect-redis.js';

/** The maximum number of calls of one key in any window. */
export type RateLimit = {
  calls: number;
  windowMs: number;
  /**
   * A call that is early by at most this much is delayed and then admitted, not refused: jitter makes a caller that sends
   * exactly at the limit arrive a few milliseconds early every other time, and such a caller must never be refused.
   */
  holdMs: number;
};

/** `waitMs`: the delay before an admitted call may proceed, or before a refused call is worth repeating. */
export type RateDecision = { admitted: boolean; waitMs: number; remaining: number };

const MAX_CACHED_KEYS = 50_000;

type LocalLimiter = {
  check: (key: string) => RateDecision;
  /** Counts a call that Redis admitted and that proceeds in `waitMs`. */
  record: (key: string, waitMs: number) => void;
};

/** The rule of the shared limiter for one process. `now`: a monotonic clock in milliseconds. */
export const createLocalLimiter = ({ calls, windowMs, holdMs }: RateLimit, now: () => number): LocalLimiter => {
  /** Admissions of a key, oldest first, at most `calls`. */
  const admissions = new Map<string, number[]>();

  const timesOf = (key: string): number[] => {
    const known = admissions.get(key) ?? [];
    // The map is in the order of last use, so the first key is the least recently used one.
    admissions.delete(key);
    admissions.set(key, known);
    for (const oldest of admissions.keys()) {
      if (admissions.size <= MAX_CACHED_KEYS) break;
      admissions.delete(oldest);
    }
    return known;
  };
  const push = (times: number[], at: number): void => {
    times.push(at);
    if (times.length > calls) times.shift();
  };

  return {
    check: (key) => {
      const times = timesOf(key);
      const at = now();
      const limiting = times.length < calls ? at : (times[0] ?? at) + windowMs;
      const admittedAt = Math.max(at, times.at(-1) ?? at, limiting);
      if (admittedAt - at > holdMs) return { admitted: false, waitMs: admittedAt - at, remaining: 0 };
      push(times, admittedAt);
      const used = times.filter((time) => time + windowMs > admittedAt).length;
      return { admitted: true, waitMs: admittedAt - at, remaining: calls - used };
    },
    record: (key, waitMs) => push(timesOf(key), now() + waitMs),
  };
};

/** Longer than a healthy Redis takes. After one such delay the process uses its local count for `LOCAL_FALLBACK_MS`. */
const REDIS_DEADLINE_MS = 100;
const LOCAL_FALLBACK_MS = 1_000;

/**
 * Stores the admissions of a key in the last window, at most `limit`, newest first, by the clock of Redis, so that processes
 * with different clocks agree. A call is admitted at `at`, at least one window after the limit-th admission before it. A
 * refused call is not stored.
 *
 * A clock that was set back, or that of a replica which took over, is behind what is stored. By more than a window, every call
 * would be refused until it has caught up, for minutes perhaps: the count starts again instead, as after a loss of the data.
 */
const ADMIT = `
local limit, window, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local at = now
local newest = redis.call('LINDEX', KEYS[1], 0)
if newest and tonumber(newest) > now + window + hold then
  redis.call('DEL', KEYS[1])
  newest = false
end
if newest and tonumber(newest) > at then at = tonumber(newest) end
local last = redis.call('LINDEX', KEYS[1], limit - 1)
if last and tonumber(last) + window > at then at = tonumber(last) + window end
if at - now > hold then return {0, at - now, 0} end
local used = redis.call('LPUSH', KEYS[1], string.format('%.0f', at))
while tonumber(redis.call('LINDEX', KEYS[1], -1)) + window <= at do
  redis.call('RPOP', KEYS[1])
  used = used - 1
end
redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000) * 2)
return {1, at - now, limit - used}
`;

type RateLimiter = {
  /** Admits or refuses one call of a key. Never throws, and returns within about 100 ms even if Redis does not respond. */
  admit: (key: string) => Promise<RateDecision>;
  /** True while this process uses its local count because Redis is unavailable. */
  isAlone: () => boolean;
};

type RateLimiterOptions = {
  connection: RedisConnection;
  prefix: string;
  limit: RateLimit;
  /** Called when the process falls back to its local count. */
  onAlone: (error: unknown) => void;
};

/**
 * Admits at most `limit.calls` of one key in any sliding window, across all processes; per process while Redis is
 * unavailable or frozen. A fixed window would admit nearly twice as many within one second.
 */
export const createRateLimiter = ({ connection, prefix, limit, onAlone }: RateLimiterOptions): RateLimiter => {
  const local = createLocalLimiter(limit, () => performance.now());
  const admit = defineScript<[number, number, number]>(connection, 'admitCall', 1, ADMIT);
  let localUntil = 0;

  const admitInRedis = async (key: string): Promise<RateDecision> => {
    if (connection.status !== 'ready') throw new Error(`Redis is ${connection.status}`);
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<never>((_resolve, reject) => {
      // setImmediate lets the event loop read a reply that has already arrived, so that a busy process does not
      // mistake its own delay for one of Redis.
      timer = setTimeout(
        () => setImmediate(() => reject(new Error('Redis did not respond in time'))),
        REDIS_DEADLINE_MS,
      );
    });
    const reply = admit(`${prefix}:rate:${key}`, limit.calls, limit.windowMs * 1_000, limit.holdMs * 1_000);
    try {
      const [admitted, waitUs, remaining] = await Promise.race([reply, timedOut]);
      return { admitted: admitted === 1, waitMs: waitUs / 1_000, remaining };
    } finally {
      clearTimeout(timer);
      reply.catch(() => undefined);
    }
  };

  return {
    isAlone: () => performance.now() < localUntil,
    admit: async (key) => {
      if (performance.now() < localUntil) return local.check(key);
      try {
        const decision = await admitInRedis(key);
        // The local count stays up to date, so that a fallback does not start from zero.
        if (decision.admitted) local.record(key, decision.waitMs);
        return decision;
      } catch (error) {
        localUntil = performance.now() + LOCAL_FALLBACK_MS;
        onAlone(error);
        return local.check(key);
      }
    },
  };
};
