import { Redis } from 'ioredis';
import { gatherWrites } from './gather-writes.js';

/**
 * `producer`: fails fast, for processes that answer callers: no offline queue, one try, a deadline on every command.
 * `consumer`: waits for Redis to come back, as BullMQ's workers must.
 */
export type RedisRole = 'producer' | 'consumer';

/** How long a producer's command may take before it fails. */
export const REDIS_COMMAND_TIMEOUT_MS = 1_000;

/** A connection. It reconnects for ever; errors go to `onError`, since an unheard error event ends the process. */
export const connectRedis = (url: string, role: RedisRole, onError: (error: Error) => void): Redis => {
  const redis = new Redis(url, {
    maxRetriesPerRequest: role === 'producer' ? 1 : null,
    enableOfflineQueue: role === 'consumer',
    ...(role === 'producer' ? { commandTimeout: REDIS_COMMAND_TIMEOUT_MS } : {}),
    connectTimeout: 2_000,
    retryStrategy: (times: number) => Math.min(100 * times, 1_000),
    // Without it a Redis that is frozen or black-holed looks connected for a quarter of an hour.
    keepAlive: 5_000,
    lazyConnect: false,
  });
  redis.on('error', onError);
  redis.on('connect', () => gatherWrites(redis.stream));
  return redis;
};
