import { type EmbeddedServer, reachPostgres, startPostgres, startRedis } from '@vat/embedded';
import { type Supervised, supervise } from './child.js';
import { type StackSettings, StartupError } from './read-settings.js';

type StartServers = {
  settings: Pick<StackSettings, 'DATABASE_URL' | 'REDIS_URL' | 'REDIS_CA'>;
  dataDir: string;
  /** PATH and proxy settings, to find or download redis-server. */
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  changed: () => void;
  signal: AbortSignal;
};

/** A server that the stack uses: its address, and its supervision if it is embedded. `created`: it is new and empty. */
type StackServer = { url: string; supervised: Supervised | null; created: boolean };

/**
 * Starts the embedded servers, or checks that the given ones answer. When one fails, the other is stopped. Throws
 * StartupError.
 */
export const startServers = async ({ settings, dataDir, env, log, changed, signal }: StartServers) => {
  const embedded = async (name: string, start: (port?: number) => Promise<EmbeddedServer>): Promise<StackServer> => {
    const first = await start();
    // A restart uses the same port, because the children have it in their addresses.
    const supervised = supervise({ name, first, restart: () => start(first.port), changed, log });
    return { url: first.url, supervised, created: first.created };
  };
  const given = async (url: string, check: (url: string) => Promise<void>): Promise<StackServer> => {
    await check(url);
    return { url, supervised: null, created: false };
  };
  const { DATABASE_URL, REDIS_URL, REDIS_CA } = settings;
  // Loaded only here: an embedded Redis needs no BullMQ in this process.
  const reachRedis = async (url: string) => (await import('@vat/queues')).reachRedis(url, REDIS_CA);
  const [postgres, redis] = await Promise.allSettled([
    DATABASE_URL === undefined
      ? embedded('Postgres', (port) => startPostgres({ dataDir, port, log }))
      : given(DATABASE_URL, reachPostgres),
    REDIS_URL === undefined
      ? embedded('Redis', (port) => startRedis({ dataDir, port, env, log, signal }))
      : given(REDIS_URL, reachRedis),
  ]);
  if (postgres.status === 'fulfilled' && redis.status === 'fulfilled') {
    return { postgres: postgres.value, redis: redis.value };
  }
  for (const result of [redis, postgres]) if (result.status === 'fulfilled') await result.value.supervised?.stop();
  signal.throwIfAborted();
  const failures = [postgres, redis].flatMap((result) =>
    result.status === 'rejected' ? [result.reason as Error] : [],
  );
  throw new StartupError(failures.map(({ message }) => message).join('\n'));
};
