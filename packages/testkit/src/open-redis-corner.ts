import { openWorldRedis, type WorldRedis } from './open-world-redis.js';
import { REDIS_VARIABLE, worldName } from './test-servers.js';

/** A part of the run's Redis: everything under a prefix of its own. */
export type RedisCorner = { url: string; prefix: string; redis: WorldRedis; close: () => Promise<void> };

/** Opens one, for tests of what needs Redis and no processes around it. `close` leaves nothing behind. */
export const openRedisCorner = (): RedisCorner => {
  const url = process.env[REDIS_VARIABLE];
  if (!url) throw new Error(`${REDIS_VARIABLE} is not set: run tests by npm test`);
  const prefix = worldName();
  const redis = openWorldRedis({ name: prefix, settings: { REDIS_URL: url } });
  const close = async () => {
    await redis.flush();
    redis.close();
  };
  return { url, prefix, redis, close };
};
