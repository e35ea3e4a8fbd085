import { Redis } from 'ioredis';
import type { Access } from './remembered-access.js';

/** What a look at a Redis port found; `ours` carries the pid and the directory that the server says it serves. */
export type RedisState =
  | { kind: 'serving'; pid: number; dir: string }
  | { kind: 'starting' | 'absent' | 'hanging' | 'foreign' };

const TIMEOUT_MS = 1_000;

const classify = (error: NodeJS.ErrnoException): RedisState => {
  if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') return { kind: 'absent' };
  if (/LOADING|MASTERDOWN/.test(error.message)) return { kind: 'starting' };
  if (error.code === 'ETIMEDOUT' || /timed out/i.test(error.message)) return { kind: 'hanging' };
  return { kind: 'foreign' };
};

/** Asks the server on `port` once who it is. Never rejects. */
export const probeRedis = async ({ port, password }: Access): Promise<RedisState> => {
  const redis = new Redis({
    ...{ host: '127.0.0.1', port, password, lazyConnect: true, enableReadyCheck: false, disconnectTimeout: 1 },
    ...{ maxRetriesPerRequest: 0, retryStrategy: () => null },
  });
  let connection: NodeJS.ErrnoException | undefined;
  redis.on('error', (error: NodeJS.ErrnoException) => {
    connection = error;
  });
  // One deadline over all of it: the client's own time-outs run one after the other.
  const deadline = setTimeout(() => {
    connection ??= new Error('timed out');
    redis.disconnect();
  }, TIMEOUT_MS);
  try {
    await redis.connect();
    // PING is refused while the AOF is read, INFO and CONFIG are not.
    await redis.ping();
    const [, dir = ''] = (await redis.config('GET', 'dir')) as string[];
    const pid = Number(/^process_id:(\d+)/m.exec(await redis.info('server'))?.[1]);
    return { kind: 'serving', pid, dir };
  } catch (error) {
    return classify(connection ?? (error as NodeJS.ErrnoException));
  } finally {
    clearTimeout(deadline);
    redis.disconnect();
  }
};
