import type { Redis } from 'ioredis';
import { defineScript } from './connect-redis.js';
import type { DeliveryQueueClass } from './job-catalogue.js';

export type EndpointPermitsOptions = {
  connection: Redis;
  prefix: string;
  /** Maximum attempts in flight to one endpoint, over all workers. */
  share: number;
  /** The maximum while the endpoint is slow. */
  slowShare: number;
  /** An endpoint is slow when its responses take longer than this on average, or one attempt is in flight for longer. */
  slowAfterMs: number;
  /** A permit that is not released (its worker died) expires after this; longer than any attempt. */
  holdMs: number;
};

/**
 * `taken`: the caller holds a permit. `release` takes how long the receiver took in milliseconds, null without a POST, and
 * never rejects.
 * `full`: a permit is likely to be free after `waitMs`.
 * `slow`: only the retry queue serves the endpoint until it responds quickly again.
 */
export type EndpointPermit =
  | { kind: 'taken'; release: (durationMs: number | null) => Promise<void> }
  | { kind: 'full'; waitMs: number }
  | { kind: 'slow' };

/** Acquires a permit of an endpoint for a job of a queue class. Throws while Redis is unavailable. */
export type AcquirePermit = (
  endpoint: string,
  jobId: string,
  queueClass: DeliveryQueueClass,
) => Promise<EndpointPermit>;

/**
 * Keys, all of one endpoint: `flights` (jobs in flight, scored by the expiry of their permit); `pace` (average duration of an
 * attempt); `waiting` (jobs that were refused, scored by when they run again). Times are in milliseconds by the clock of
 * Redis. A job that runs again after its worker died takes over its own permit.
 *
 * A refused job waits for as long as the jobs that wait already are likely to need. Twice as many return as the endpoint
 * can serve in that time, so that irregular durations leave few permits unused.
 */
const ACQUIRE = `
local flights, pace, waiting = KEYS[1], KEYS[2], KEYS[3]
local job, class = ARGV[1], ARGV[2]
local share, slowShare, slowAfter, hold = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', flights, '-inf', now)
redis.call('ZREM', flights, job)
redis.call('ZREM', waiting, job)
local duration = tonumber(redis.call('GET', pace) or '0')
local oldest = redis.call('ZRANGE', flights, 0, 0, 'WITHSCORES')[2]
if oldest then duration = math.max(duration, now - (tonumber(oldest) - hold)) end
local slow = duration > slowAfter
if slow and class == 'first' then return {2, 0} end
if slow then share = slowShare end
if redis.call('ZCARD', flights) < share then
  redis.call('ZADD', flights, string.format('%.0f', now + hold), job)
  redis.call('PEXPIRE', flights, hold)
  return {1, 0}
end
redis.call('ZREMRANGEBYSCORE', waiting, '-inf', now)
local wait = math.ceil(math.min(60000, math.max(10, duration) * (redis.call('ZCARD', waiting) + 1) / share / 2))
redis.call('ZADD', waiting, string.format('%.0f', now + wait), job)
redis.call('PEXPIRE', waiting, 60000)
return {0, wait}`;

/** Updates a moving average: the first duration starts it, and about the last ten determine it. */
const RELEASE = `
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] == '' then return end
local average = tonumber(ARGV[2])
local known = redis.call('GET', KEYS[2])
if known then average = tonumber(known) * 0.7 + average * 0.3 end
redis.call('SET', KEYS[2], string.format('%.3f', average), 'PX', 60000)`;

/**
 * Limits the attempts in flight per endpoint, over all workers, so that an endpoint that hangs occupies only its own
 * permits. Unlike the slots of member states this is fairness and not a guarantee, so its state may be lost with Redis.
 */
export const endpointPermits = (options: EndpointPermitsOptions): AcquirePermit => {
  const { connection, prefix, share, slowShare, slowAfterMs, holdMs } = options;
  const acquire = defineScript<[kind: number, waitMs: number]>(connection, 'acquirePermit', 3, ACQUIRE);
  const release = defineScript<null>(connection, 'releasePermit', 2, RELEASE);

  return async (endpoint, jobId, queueClass) => {
    const tag = `${prefix}:{endpoint-${endpoint}}`;
    const [flights, pace] = [`${tag}:flights`, `${tag}:duration`];
    const [kind, waitMs] = await acquire(
      ...[flights, pace, `${tag}:waiting`],
      ...[jobId, queueClass, share, slowShare, slowAfterMs, holdMs],
    );
    if (kind === 2) return { kind: 'slow' };
    if (kind === 0) return { kind: 'full', waitMs };
    return {
      kind: 'taken',
      // A permit that cannot be released expires.
      release: async (durationMs) => void (await release(flights, pace, jobId, durationMs ?? '').catch(() => null)),
    };
  };
};
