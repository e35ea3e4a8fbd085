import type { RedisConnection } from './connect-redis.js';

/** The oldest release that has the commands which BullMQ's scripts and ours use. */
const LEAST_VERSION = [6, 2] as const;

const fieldOf = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]?.trim();

/** What is wrong with a server, by its INFO, as sentences for the operator. */
export const faultsOf = (info: string): string[] => {
  const faults: string[] = [];
  const policy = fieldOf(info, 'maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction')
    faults.push(`Redis may remove jobs when its memory is full: set maxmemory-policy to noeviction. It is ${policy}.`);
  const version = fieldOf(info, 'redis_version');
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number);
  const [leastMajor, leastMinor] = LEAST_VERSION;
  if (version !== undefined && (major < leastMajor || (major === leastMajor && minor < leastMinor)))
    faults.push(`Redis ${version} is too old: ${LEAST_VERSION.join('.')} or newer is needed.`);
  return faults;
};

/** What is wrong with the server, or with one of a cluster. A server that does not show its INFO has no faults. */
export const findRedisFaults = async (connection: RedisConnection): Promise<string[]> => {
  const info: unknown = await connection.info().catch(() => '');
  return faultsOf(String(info));
};
