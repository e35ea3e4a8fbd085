import { fetchRedis } from './fetch-redis.js';
import { findInstalledRedis, findUnpackedRedis, type RedisBinary } from './find-redis.js';

type ChooseRedis = {
  binDir: string;
  env: NodeJS.ProcessEnv;
  log: (line: string) => void;
  signal?: AbortSignal | undefined;
};

/**
 * The Redis to run: the machine's, one unpacked earlier into `binDir`, or Debian's packages fetched into it now.
 * Throws one message with the ways out when none of these works.
 */
export const chooseRedis = async ({ binDir, env, log, signal }: ChooseRedis): Promise<RedisBinary> => {
  const found = findInstalledRedis(env['PATH'] ?? '') ?? findUnpackedRedis(binDir);
  if (found) return found;
  log(`no redis-server on PATH: fetching the distribution's package into ${binDir} (nothing is installed)`);
  try {
    return await fetchRedis({ into: binDir, env, signal });
  } catch (error) {
    signal?.throwIfAborted();
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'there is no apt here' : (error as Error).message;
    throw new Error(
      `neither redis-server nor valkey-server is on PATH, and it could not be fetched (${why}). Install one ` +
        '(Debian, Ubuntu: "apt install redis-server"; Fedora: "dnf install valkey"; Alpine: "apk add valkey"; macOS: ' +
        '"brew install redis"), set REDIS_URL to a Redis of yours, or use "docker compose up"',
    );
  }
};
