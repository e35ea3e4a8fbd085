import { readFileSync } from 'node:fs';
import type { RedisConnection } from '@vat/queues';
import type { Redis } from 'ioredis';
import type { World } from './start-world.js';
import { REDIS_VARIABLE, worldName } from './test-servers.js';

/** The keys of one world in a Redis that several worlds share. */
export type WorldRedis = {
  keys: () => Promise<string[]>;
  /** Ids of the requests that have a job, in whatever state. */
  jobs: () => Promise<string[]>;
  /** Deletes every key of this world, like FLUSHALL in a deployment. Returns the number of keys. */
  flush: () => Promise<number>;
  /** Every key and value as text, for tests that something is not stored. */
  text: () => Promise<string>;
  close: () => void;
};

const FLUSH = `
  local found = redis.call('KEYS', ARGV[1])
  for i = 1, #found do redis.call('DEL', found[i]) end
  return #found`;

const READ = {
  string: (redis: RedisConnection, key: string) => redis.get(key),
  hash: (redis: RedisConnection, key: string) => redis.hgetall(key),
  list: (redis: RedisConnection, key: string) => redis.lrange(key, 0, -1),
  set: (redis: RedisConnection, key: string) => redis.smembers(key),
  zset: (redis: RedisConnection, key: string) => redis.zrange(key, '0', '-1'),
  stream: (redis: RedisConnection, key: string) => redis.xrange(key, '-', '+'),
} as const;

const mastersOf = (redis: RedisConnection): Redis[] => ('nodes' in redis ? redis.nodes('master') : [redis]);

const scan = async (redis: Redis, pattern: string, found: Set<string>): Promise<void> => {
  let cursor = '0';
  do {
    const [next, some] = await redis.scan(cursor, 'MATCH', pattern, 'COUNT', 1_000);
    for (const key of some) found.add(key);
    cursor = next;
  } while (cursor !== '0');
};

export const openWorldRedis = async ({ name, settings }: Pick<World, 'settings' | 'name'>): Promise<WorldRedis> => {
  // Loaded on demand: BullMQ costs each test file 0.3 s, and few use it.
  const { connectRedis } = await import('@vat/queues');
  const ca = settings.REDIS_CA ? readFileSync(settings.REDIS_CA, 'utf8') : undefined;
  const redis = connectRedis(settings.REDIS_URL ?? '', 'consumer', () => undefined, ca);
  const keys = async (): Promise<string[]> => {
    const found = new Set<string>();
    // A cluster knows its masters once it answers.
    await redis.exists(name);
    for (const master of mastersOf(redis)) await scan(master, `${name}:*`, found);
    return [...found];
  };
  return {
    keys,
    jobs: async () =>
      (await keys()).flatMap((key) => /:([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(key)?.[1] ?? []),
    // Atomic like FLUSHALL: otherwise a job's hash could remain without its queue, which cannot happen in a deployment.
    flush: async () => Number(await redis.eval(FLUSH, 0, `${name}:*`)),
    text: async () => {
      const found = await Promise.all(
        (await keys()).map(async (key) => {
          const read = READ[(await redis.type(key)) as keyof typeof READ];
          return [key, await read?.(redis, key)];
        }),
      );
      return JSON.stringify(found);
    },
    close: () => redis.disconnect(),
  };
};

/** A part of the run's Redis: all keys with one prefix. */
export type RedisNamespace = { url: string; prefix: string; redis: WorldRedis; close: () => Promise<void> };

/** Opens a namespace, for tests that need Redis but no processes. `close` removes its keys. */
export const openRedisNamespace = async (): Promise<RedisNamespace> => {
  const url = process.env[REDIS_VARIABLE];
  if (!url) throw new Error(`${REDIS_VARIABLE} is not set: run tests by npm test`);
  const prefix = worldName();
  const redis = await openWorldRedis({ name: prefix, settings: { REDIS_URL: url } });
  const close = async () => {
    await redis.flush();
    redis.close();
  };
  return { url, prefix, redis, close };
};
