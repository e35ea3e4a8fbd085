import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';

/** For errors that a test does not expect. */
export const raise = (error: unknown): never => {
  throw error;
};

/** A namespace of Redis for one test file, with a connection that is open while its tests run. */
export const testRedis = (): RedisNamespace & { connection: RedisConnection } => {
  const opened = {} as RedisNamespace & { connection: RedisConnection };
  beforeAll(async () => {
    Object.assign(opened, await openRedisNamespace());
    opened.connection = connectRedis(opened.url, 'producer', raise);
    await until('Redis', () => opened.connection.status === 'ready');
  });
  afterAll(async () => {
    opened.connection.disconnect();
    await opened.close();
  });
  return opened;
};
