import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Redis } from 'ioredis';

/**
 * Coalesces the writes of one turn of the event loop into one system call. Thirty jobs that end together send thirty
 * commands in one turn: one write, and one read by Redis, instead of thirty each. This adds no latency, since the data
 * leaves at the end of the turn.
 */
export const coalesceWrites = (stream: Writable): void => {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let corked = false;
  const flush = (): void => {
    corked = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]): boolean => {
    if (!corked) {
      corked = true;
      stream.cork();
      process.nextTick(flush);
    }
    return write(...args);
  };
};

/**
 * `producer`: fails fast, for processes that respond to callers: no offline queue, one attempt, a deadline on every command.
 * `consumer`: waits until Redis is available again, as BullMQ's workers require.
 */
export type RedisRole = 'producer' | 'consumer';

/** The deadline of a producer's command. */
export const REDIS_COMMAND_TIMEOUT_MS = 1_000;

/** Opens a connection that reconnects without limit. Errors go to `onError`: an unhandled error event would end the process. */
export const connectRedis = (url: string, role: RedisRole, onError: (error: Error) => void): Redis => {
  const redis = new Redis(url, {
    maxRetriesPerRequest: role === 'producer' ? 1 : null,
    enableOfflineQueue: role === 'consumer',
    ...(role === 'producer' ? { commandTimeout: REDIS_COMMAND_TIMEOUT_MS } : {}),
    connectTimeout: 2_000,
    retryStrategy: (times: number) => Math.min(100 * times, 1_000),
    // Without it a connection to a frozen or unreachable Redis looks open for a quarter of an hour.
    keepAlive: 5_000,
    lazyConnect: false,
  });
  redis.on('error', onError);
  redis.on('connect', () => coalesceWrites(redis.stream));
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

/** Runs a script with its keys and arguments; rejects like any command. */
export type RunScript = (keys: readonly string[], args: readonly string[]) => Promise<unknown>;

const isUnknownScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * Prepares a Lua script that is called by its hash. Its text is sent only when Redis does not know it: on first use, and
 * after a restart of Redis. Sending one or two kilobytes with each call would cost more than running the script.
 */
export const prepareScript = (connection: Redis, script: string): RunScript => {
  const hash = createHash('sha1').update(script).digest('hex');
  return async (keys, args) => {
    try {
      return await connection.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return connection.eval(script, keys.length, ...keys, ...args);
    }
  };
};
