import { Redis } from 'ioredis';
import { unreachable } from './unreachable.js';

const TIMEOUT_MS = 5_000;

/** Connects once to a Redis that is not ours. Throws an Error that names the setting, the place and the reason. */
export const reachRedis = async (url: string): Promise<void> => {
  const redis = new Redis(url, {
    ...{ lazyConnect: true, connectTimeout: TIMEOUT_MS, commandTimeout: TIMEOUT_MS, disconnectTimeout: 1 },
    ...{ maxRetriesPerRequest: 0, retryStrategy: () => null },
  });
  let connection: Error | undefined;
  redis.on('error', (error: Error) => {
    connection = error;
  });
  try {
    await redis.connect();
    await redis.ping();
  } catch (error) {
    throw unreachable('REDIS_URL', url, connection ?? error);
  } finally {
    redis.disconnect();
  }
};
