import { fetchDebianPackages } from './fetch-debian-packages.js';
import { findUnpackedRedis, type RedisBinary } from './find-redis.js';

type FetchRedis = { into: string; env: NodeJS.ProcessEnv; signal?: AbortSignal | undefined };

/**
 * Downloads Debian's (or Ubuntu's) redis-server with the libraries this machine lacks and unpacks them into `into`, without
 * root. Throws when there is no apt, no network, or the result does not run. About 3 s and 8 MB.
 */
export const fetchRedis = async ({ into, env, signal }: FetchRedis): Promise<RedisBinary> => {
  const isUsable = (folder: string) => findUnpackedRedis(folder) !== null;
  await fetchDebianPackages({ names: ['redis-server'], into, isUsable, env, signal });
  const fetched = findUnpackedRedis(into);
  if (!fetched) throw new Error(`redis-server was unpacked into ${into}, and does not run from there`);
  return fetched;
};
