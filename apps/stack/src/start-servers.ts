import { type EmbeddedServer, reachPostgres, reachRedis, startPostgres, startRedis } from '@vat/embedded';
import { type Kept, keepAlive } from './child.js';
import type { StackSettings } from './read-settings.js';
import { StartupError } from './read-settings.js';

type StartServers = {
  settings: Pick<StackSettings, 'DATABASE_URL' | 'REDIS_URL'>;
  dataDir: string;
  /** PATH and proxy settings, for finding or fetching redis-server. */
  env: NodeJS.ProcessEnv;
  say: (line: string) => void;
  changed: () => void;
  signal: AbortSignal;
};

/** A server the stack uses: its address, and its supervision when it is embedded. `created`: it was made just now, empty. */
type StackServer = { url: string; kept: Kept | null; created: boolean };

/**
 * Starts the embedded servers, or checks that the given ones answer. Both or none: when one fails, the other is stopped again.
 * Throws StartupError.
 */
export const startServers = async ({ settings, dataDir, env, say, changed, signal }: StartServers) => {
  const embedded = async (name: string, start: (port?: number) => Promise<EmbeddedServer>): Promise<StackServer> => {
    const first = await start();
    // The port stays: the children hold it in their addresses.
    const kept = keepAlive({ name, first, restart: () => start(first.port), changed, say });
    return { url: first.url, kept, created: first.created };
  };
  const given = async (url: string, check: (url: string) => Promise<void>): Promise<StackServer> => {
    await check(url);
    return { url, kept: null, created: false };
  };
  const { DATABASE_URL, REDIS_URL } = settings;
  const [postgres, redis] = await Promise.allSettled([
    DATABASE_URL === undefined
      ? embedded('Postgres', (port) => startPostgres({ dataDir, port, log: say }))
      : given(DATABASE_URL, reachPostgres),
    REDIS_URL === undefined
      ? embedded('Redis', (port) => startRedis({ dataDir, port, env, log: say, signal }))
      : given(REDIS_URL, reachRedis),
  ]);
  if (postgres.status === 'fulfilled' && redis.status === 'fulfilled') {
    return { postgres: postgres.value, redis: redis.value };
  }
  for (const result of [redis, postgres]) if (result.status === 'fulfilled') await result.value.kept?.stop();
  signal.throwIfAborted();
  const failures = [postgres, redis].flatMap((result) =>
    result.status === 'rejected' ? [result.reason as Error] : [],
  );
  throw new StartupError(failures.map(({ message }) => message).join('\n'));
};
