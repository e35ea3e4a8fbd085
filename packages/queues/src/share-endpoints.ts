import type { Redis } from 'ioredis';
import type { DeliveryLane } from './job-catalogue.js';

export type EndpointSharesOptions = {
  connection: Redis;
  prefix: string;
  /** Attempts of one endpoint that may be in flight at once, over all workers. */
  share: number;
  /** The same while the endpoint is slow. */
  slowShare: number;
  /** An endpoint is slow when its answers take this long on average, or one has been outstanding for this long. */
  slowAfterMs: number;
  /** A place that is not given back (its worker died) is free again after this; longer than any attempt. */
  holdMs: number;
};

/**
 * `full`: ask again after `waitMs`, when the turn of this one has probably come. `slow`: not in this lane: the endpoint
 * belongs to the retries until it answers quickly again.
 */
export type EndpointPlace =
  | { kind: 'taken'; release: (durationMs: number | null) => void }
  | { kind: 'full'; waitMs: number }
  | { kind: 'slow' };

/** Takes a place among the attempts in flight of an endpoint. `token` names the attempt. Throws while Redis is away. */
export type TakePlace = (endpoint: string, token: string, lane: DeliveryLane) => Promise<EndpointPlace>;

/**
 * In flight: token → when its place runs out. Pace: the average duration (or the age of the oldest in flight), and when the
 * next one that finds no room is to come back: one after the other, as far apart as places come free, so that a thousand that wait for a receiver that hangs
 * do not all ask many times a second.
 */
const TAKE = `
local share, slowShare, slowAfter, hold = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
local average = tonumber(redis.call('HGET', KEYS[2], 'average') or '-1')
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
local pace = average
if oldest then pace = math.max(pace, now - (tonumber(oldest) - hold)) end
local slow = pace > slowAfter
if slow and ARGV[6] == 'first' then return {2, 0} end
if slow then share = slowShare end
if redis.call('ZCARD', KEYS[1]) < share then
  redis.call('ZADD', KEYS[1], string.format('%.0f', now + hold), ARGV[1])
  redis.call('PEXPIRE', KEYS[1], hold)
  return {1, 0}
end
local apart = math.min(1000, math.max(average < 0 and 10 or 2, pace / share))
local turn = math.max(now, tonumber(redis.call('HGET', KEYS[2], 'turn') or '0')) + apart
turn = math.ceil(math.min(turn, now + 30000))
redis.call('HSET', KEYS[2], 'turn', string.format('%.0f', turn))
redis.call('PEXPIRE', KEYS[2], 60000)
return {0, turn - now}`;

/** A newcomer's average is its first duration; then the last ten or so count. */
const RELEASE = `
redis.call('ZREM', KEYS[1], ARGV[1])
if ARGV[2] == '' then return 0 end
local known = redis.call('HGET', KEYS[2], 'average')
local average = tonumber(ARGV[2])
if known then average = tonumber(known) * 0.7 + average * 0.3 end
redis.call('HSET', KEYS[2], 'average', string.format('%.3f', average))
redis.call('PEXPIRE', KEYS[2], 60000)
return 1`;

/**
 * Shares the workers among endpoints: one that hangs holds its few places and nothing else, over the whole fleet. Unlike
 * the slots of member states this is fairness, no promise to anybody, so it may live in Redis and be lost with it.
 */
export const shareEndpoints = (options: EndpointSharesOptions): TakePlace => {
  const { connection, prefix, share, slowShare, slowAfterMs, holdMs } = options;

  return async (endpoint, token, lane) => {
    const keys = [`${prefix}:{endpoint-${endpoint}}:flights`, `${prefix}:{endpoint-${endpoint}}:pace`] as const;
    const limits = [share, slowShare, slowAfterMs, holdMs].map(String);
    const [kind, waitMs] = (await connection.eval(TAKE, 2, ...keys, token, ...limits, lane)) as [number, number];
    if (kind === 0) return { kind: 'full', waitMs };
    if (kind === 2) return { kind: 'slow' };
    return {
      kind: 'taken',
      // What is not given back runs out by itself.
      release: (durationMs) =>
        void connection
          .eval(RELEASE, 2, ...keys, token, durationMs === null ? '' : String(durationMs))
          .catch(() => undefined),
    };
  };
};
