import { until } from './until.js';

/**
 * Waits until the job that closes anchors has run once, as it does when its schedule begins. Otherwise it may put the first
 * checks of a test into an anchor. `prefix`: of the keys in Redis. The fields are BullMQ's.
 */
export const firstAnchorRun = async (redisUrl: string, prefix: string): Promise<void> => {
  // Loaded on demand, because most test files have no world.
  const { Redis } = await import('ioredis');
  const redis = new Redis(redisUrl);
  const queue = `${prefix}:{evidence}`;
  try {
    await until('the first run of the job that closes anchors', async () => {
      // The next run is scheduled when one begins.
      const scheduled = Number(await redis.hget(`${queue}:repeat:close`, 'ic'));
      return scheduled > 1 && (await redis.llen(`${queue}:active`)) === 0;
    });
  } finally {
    redis.disconnect();
  }
};
