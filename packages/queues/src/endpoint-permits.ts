import type { DeliveryPermit } from '@vat/domain';
import { defineScript, type RedisConnection } from './connect-redis.js';
import type { DeliveryQueueClass } from './job-catalogue.js';

type EndpointPermitsOptions = {
  connection: RedisConnection;
  prefix: string;
  /** Maximum attempts in flight to one endpoint, over all workers. */
  share: number;
  /** The maximum while the endpoint is slow. */
  slowShare: number;
  /** An endpoint is slow when its responses take longer than this on average, or one attempt is in flight for longer. */
  slowAfterMs: number;
  /** A permit that is not released (its worker died) expires after this; longer than any attempt. */
  holdMs: number;
  /** Runs a delayed job now. A failure is harmless: the job runs at its due time. */
  promote: (queueClass: DeliveryQueueClass, jobId: string) => Promise<void>;
};

/**
 * Acquires a permit of an endpoint for a job of a queue class. Throws while Redis is unavailable. `release` never rejects. After
 * `full` the caller delays the job, which usually runs earlier: the next released permit promotes it. After `slow` only the retry
 * queue serves the endpoint until it responds quickly again.
 */
type AcquirePermit = (endpoint: string, jobId: string, queueClass: DeliveryQueueClass) => Promise<DeliveryPermit>;

/**
 * Keys, all of one endpoint: `flights` (jobs in flight, scored by the expiry of their permit); `pace` (average duration of an
 * attempt); `waiting` (jobs that were refused, as `queue class|job`, scored by when they were refused or promoted). Times are
 * in milliseconds by the clock of Redis; a permit that ends later than one taken now is of a clock that was ahead. A job that runs again after its worker died takes over its own permit.
 */
const ACQUIRE = `
local flights, pace, waiting = KEYS[1], KEYS[2], KEYS[3]
local job, class, member = ARGV[1], ARGV[2], ARGV[2] .. '|' .. ARGV[1]
local share, slowShare, slowAfter, hold = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', flights, '-inf', now)
redis.call('ZREMRANGEBYSCORE', flights, string.format('(%.0f', now + hold), '+inf')
redis.call('ZREM', flights, job)
redis.call('ZREM', waiting, member)
local duration = tonumber(redis.call('GET', pace) or '0')
local oldest = redis.call('ZRANGE', flights, 0, 0, 'WITHSCORES')[2]
if oldest then duration = math.max(duration, now - (tonumber(oldest) - hold)) end
local slow = duration > slowAfter
if slow and class == 'first' then return 'slow' end
if redis.call('ZCARD', flights) < (slow and slowShare or share) then
  redis.call('ZADD', flights, string.format('%.0f', now + hold), job)
  redis.call('PEXPIRE', flights, hold)
  return 'taken'
end
redis.call('ZADD', waiting, string.format('%.0f', now), member)
redis.call('PEXPIRE', waiting, 600000)
return redis.call('ZCARD', waiting)`;

/**
 * Updates the moving average: the first duration starts it, and about the last ten determine it. Returns the jobs to
 * promote: one for this permit, and one more while permits are unused. None when no POST was made: that job runs again.
 *
 * A promoted job goes to the end of `waiting` and leaves it only when it acquires: its promotion fails while it is still on
 * its way to the delayed jobs, and a later release then promotes it.
 */
const RELEASE = `
local flights, pace, waiting = KEYS[1], KEYS[2], KEYS[3]
redis.call('ZREM', flights, ARGV[1])
if ARGV[2] == '' then return {} end
local average = tonumber(ARGV[2])
local known = redis.call('GET', pace)
if known then average = tonumber(known) * 0.7 + average * 0.3 end
redis.call('SET', pace, string.format('%.3f', average), 'PX', 60000)
local unused = math.min(2, tonumber(ARGV[3]) - redis.call('ZCARD', flights))
if unused < 1 then return {} end
local members = redis.call('ZRANGE', waiting, 0, unused - 1)
local time = redis.call('TIME')
for i = 1, #members do
  redis.call('ZADD', waiting, string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000)), members[i])
end
return members`;

/**
 * Limits the attempts in flight per endpoint, over all workers, so that an endpoint that hangs occupies only its own
 * permits. Unlike the slots of member states this is fairness and not a guarantee, so its state may be lost with Redis.
 *
 * Promotion is best effort: a job whose promotion failed at the last release of its endpoint runs when its delay is over.
 * The order is not guaranteed.
 */
export const endpointPermits = (options: EndpointPermitsOptions): AcquirePermit => {
  const { connection, prefix, share, slowShare, slowAfterMs, holdMs, promote } = options;
  const acquire = defineScript<'taken' | 'slow' | number>(connection, 'acquirePermit', 3, ACQUIRE);
  const release = defineScript<string[]>(connection, 'releasePermit', 3, RELEASE);

  return async (endpoint, jobId, queueClass) => {
    const tag = `${prefix}:{endpoint-${endpoint}}`;
    const keys = [`${tag}:flights`, `${tag}:duration`, `${tag}:waiting`];
    const acquired = await acquire(...keys, jobId, queueClass, share, slowShare, slowAfterMs, holdMs);
    if (typeof acquired === 'number') return { kind: 'full', waiting: acquired };
    if (acquired === 'slow') return { kind: 'slow' };
    return {
      kind: 'taken',
      release: async (durationMs) => {
        // A permit that cannot be released expires.
        const next = await release(...keys, jobId, durationMs ?? '', share).catch(() => []);
        const promotions = next.map((member) => {
          const [name, id = ''] = member.split('|');
          return promote(name === 'first' ? 'first' : 'retry', id);
        });
        await Promise.allSettled(promotions);
      },
    };
  };
};
