import type { Redis } from 'ioredis';

/** How many calls of one key are admitted in any window. */
export type RateLimit = {
  calls: number;
  windowMs: number;
  /**
   * A call that comes this little too early is held and then admitted, not refused: a caller that keeps exactly to the
   * limit arrives a few milliseconds early every other time, and must never be refused.
   */
  holdMs: number;
};

/** `waitMs`: until an admitted call may go on, or until a refused one is worth repeating. */
export type RateDecision = { admitted: boolean; waitMs: number; remaining: number };

const MAX_CACHED_KEYS = 50_000;

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

/** Longer than a healthy Redis ever takes; a caller pays it once, then the process counts alone for a while. */
const REDIS_DEADLINE_MS = 100;
const ALONE_FOR_MS = 1_000;

/**
 * The last `limit` admissions of a key, newest first, on Redis's own clock, so that processes with different clocks agree.
 * A call is admitted at `at`, never less than a window after the limit-th one before it; a refused call leaves no trace.
 */
const ADMIT = `
local limit, window, hold = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local at = now
local newest = redis.call('LINDEX', KEYS[1], 0)
if newest and tonumber(newest) > at then at = tonumber(newest) end
local last = redis.call('LINDEX', KEYS[1], limit - 1)
if last and tonumber(last) + window > at then at = tonumber(last) + window end
if at - now > hold then return {0, at - now, 0} end
redis.call('LPUSH', KEYS[1], string.format('%.0f', at))
redis.call('LTRIM', KEYS[1], 0, limit - 1)
redis.call('PEXPIRE', KEYS[1], math.ceil(window / 1000) * 2)
local used = 0
for _, earlier in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  if tonumber(earlier) + window > at then used = used + 1 end
end
return {1, at - now, limit - used}
`;

export type RateLimiter = {
  /** Judges one call of a key. Never throws, and answers within about a tenth of a second whatever Redis does. */
  judge: (key: string) => Promise<RateDecision>;
  /** True while this process counts for itself alone. */
  isAlone: () => boolean;
};

export type RateLimiterOptions = {
  connection: Redis;
  prefix: string;
  limit: RateLimit;
  /** Called when the process begins to count alone. */
  onAlone: (error: unknown) => void;
};

/**
 * At most `limit.calls` of one key in any sliding window, over every process together; per process while Redis is away or
 * frozen. Not a fixed window, which lets nearly twice as many into one second.
 */
export const createRateLimiter = ({ connection, prefix, limit, onAlone }: RateLimiterOptions): RateLimiter => {
  const local = createLocalLimiter(limit, () => performance.now());
  let aloneUntil = 0;

  const ask = async (key: string): Promise<RateDecision> => {
    if (connection.status !== 'ready') throw new Error(`Redis is ${connection.status}`);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      // One more turn of the event loop reads what lies in the socket: a process that was busy itself must not take
      // its own delay for Redis's.
      timer = setTimeout(
        () => setImmediate(() => reject(new Error('Redis did not answer in time'))),
        REDIS_DEADLINE_MS,
      );
    });
    const us = (ms: number) => String(ms * 1_000);
    const reply = connection.eval(
      ADMIT,
      1,
      `${prefix}:rate:${key}`,
      String(limit.calls),
      us(limit.windowMs),
      us(limit.holdMs),
    );
    try {
      const [admitted, waitUs, remaining] = (await Promise.race([reply, late])) as [number, number, number];
      return { admitted: admitted === 1, waitMs: waitUs / 1_000, remaining };
    } finally {
      clearTimeout(timer);
      reply.catch(() => undefined);
    }
  };

  return {
    isAlone: () => performance.now() < aloneUntil,
    judge: async (key) => {
      if (performance.now() < aloneUntil) return local.judge(key);
      try {
        const decision = await ask(key);
        // The process's own count goes on beside it, so that falling back never starts from zero.
        if (decision.admitted) local.note(key, decision.waitMs);
        return decision;
      } catch (error) {
        aloneUntil = performance.now() + ALONE_FOR_MS;
        onAlone(error);
        return local.judge(key);
      }
    },
  };
};
