import type { Redis } from 'ioredis';

/**
 * Whether Redis answers, asked over a producer's connection, which waits no longer than its commands may. A server that is
 * frozen or behind a black hole is connected for a long time after it has answered last.
 */
export const pingRedis = (connection: Redis) => async (): Promise<boolean> => {
  if (connection.status !== 'ready') return false;
  return connection.ping().then(
    () => true,
    () => false,
  );
};
