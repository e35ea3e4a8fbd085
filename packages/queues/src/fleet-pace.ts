import type { ReserveCall } from '@vat/domain';
import { defineScript, type RedisConnection } from './connect-redis.js';

/**
 * Reserves the next start, by the clock of Redis. The key holds the time from which the next call may start, and expires at
 * that time. A start further ahead than any call waits was stored before that clock was set back, and does not count.
 */
const RESERVE = `
local gap, longest, furthest = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local start = math.max(now, tonumber(redis.call('GET', KEYS[1]) or 0))
if start - now > furthest + gap then start = now end
if start - now > longest then return -1 end
redis.call('SET', KEYS[1], string.format('%.0f', start + gap), 'PX', start + gap - now)
return start - now
`;

/**
 * Spaces the calls to a source over all processes. Rejects when Redis does not respond. `furthestMs`: no call of any process waits
 * longer than this before it starts.
 */
export const fleetPace = (connection: RedisConnection, prefix: string, furthestMs: number): ReserveCall => {
  const reserve = defineScript<number>(connection, 'reserveCall', 1, RESERVE);
  return async (source, { gapMs, maxWaitMs }) => {
    const longest = Math.floor(Math.min(maxWaitMs, furthestMs));
    const waitMs = await reserve(`${prefix}:pace:${source}`, Math.ceil(gapMs), longest, furthestMs);
    return waitMs < 0 ? null : waitMs;
  };
};
