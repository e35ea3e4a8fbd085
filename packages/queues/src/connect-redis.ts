import { Redis } from 'ioredis';

/**
 * `producer`: fails fast, for processes that respond to callers: no offline queue, one attempt, a deadline on every command.
 * `consumer`: waits until Redis is available again, as BullMQ's workers require.
 */
type RedisRole = 'producer' | 'consumer';

/** The deadline of a producer's command. */
export const REDIS_COMMAND_TIMEOUT_MS = 1_000;

/**
 * A connection on which nothing arrives for this long after a command is replaced: TCP alone notices after a quarter of an
 * hour that the network forgot it. A consumer's commands wait up to ten seconds for a job.
 */
const SILENT_MS = { producer: 3_000, consumer: 12_000 } as const;

/** Opens a connection that reconnects without limit. Errors go to `onError`: an unhandled error event would end the process. */
export const connectRedis = (url: string, role: RedisRole, onError: (error: Error) => void): Redis => {
  const redis = new Redis(url, {
    maxRetriesPerRequest: role === 'producer' ? 1 : null,
    enableOfflineQueue: role === 'consumer',
    ...(role === 'producer' ? { commandTimeout: REDIS_COMMAND_TIMEOUT_MS } : {}),
    connectTimeout: 2_000,
    socketTimeout: SILENT_MS[role],
    retryStrategy: (times: number) => Math.min(100 * times, 1_000),
    // Without it a connection to a frozen or unreachable Redis looks open for a quarter of an hour.
    keepAlive: 5_000,
    lazyConnect: false,
  });
  redis.on('error', onError);
  return redis;
};

/**
 * Whether Redis responds, within the command deadline of a producer's connection. The connection's status does not suffice:
 * it stays `ready` for a long time when the server is frozen or unreachable.
 */
export const pingRedis = (connection: Redis) => async (): Promise<boolean> => {
  if (connection.status !== 'ready') return false;
  return connection.ping().then(
    () => true,
    () => false,
  );
};

/**
 * Defines a Lua script as a command of the connection. Its arguments are its keys, `keys` in number, and then the others.
 * Its text is sent only when Redis does not know it: sending a kilobyte with each call would cost more than running it.
 */
export const defineScript = <Reply>(connection: Redis, name: string, keys: number, lua: string) => {
  connection.defineCommand(name, { numberOfKeys: keys, lua });
  const run = Reflect.get(connection, name) as (...args: (string | number)[]) => Promise<Reply>;
  return run.bind(connection);
};
