import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { Redis } from 'ioredis';

/**
 * Lets what is written in one turn of the event loop leave in one system call. Thirty jobs that end with the same statement
 * send thirty commands at once: one write and, on Redis's side, one read instead of thirty each. Nothing waits for it: the
 * turn is over before anything else could be sent.
 */
export const coalesceWrites = (stream: Writable): void => {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let gathering = false;
  const flush = (): void => {
    gathering = false;
    stream.uncork();
  };
  stream.write = (...args: unknown[]): boolean => {
    if (!gathering) {
      gathering = true;
      stream.cork();
      process.nextTick(flush);
    }
    return write(...args);
  };
};

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
  redis.on('connect', () => coalesceWrites(redis.stream));
  return redis;
};

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

/** Runs a script with its keys and arguments; rejects as any command does. */
export type RunScript = (keys: readonly string[], args: readonly string[]) => Promise<unknown>;

const isUnknown = (error: unknown): boolean => error instanceof Error && error.message.startsWith('NOSCRIPT');

/**
 * A Lua script that is sent by its hash, and whole only when Redis does not know it: it was started anew, or this is the
 * first time. A script of a kilobyte or two that goes along with each call costs more than what it does.
 */
export const prepareScript = (connection: Redis, script: string): RunScript => {
  const hash = createHash('sha1').update(script).digest('hex');
  return async (keys, args) => {
    try {
      return await connection.evalsha(hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isUnknown(error)) throw error;
      return connection.eval(script, keys.length, ...keys, ...args);
    }
  };
};
