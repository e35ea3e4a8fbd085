import { connectRedis, createProducer, type Producer } from '@vat/queues';
import { readSettings } from '@vat/runtime';
import { UsageError } from './usage-error.js';

const REDIS_WAIT_MS = 5_000;

/** Resolves when the connection can be used, or throws. */
const ready = (redis: ReturnType<typeof connectRedis>): Promise<void> =>
  new Promise((resolve, reject) => {
    if (redis.status === 'ready') return resolve();
    const timer = setTimeout(() => reject(new UsageError('Redis does not answer at REDIS_URL.')), REDIS_WAIT_MS);
    redis.once('ready', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** Runs work that adds jobs, over a connection of its own. Throws {@link UsageError} when Redis does not answer, and SettingsError. */
export const withProducer = async <T>(env: NodeJS.ProcessEnv, work: (producer: Producer) => Promise<T>): Promise<T> => {
  const settings = readSettings(env, ['REDIS_URL', 'REDIS_PREFIX']);
  const redis = connectRedis(settings.REDIS_URL, 'producer', () => undefined);
  const producer = createProducer(redis, settings.REDIS_PREFIX);
  try {
    await ready(redis);
    return await work(producer);
  } finally {
    await producer.close();
    redis.disconnect();
  }
};
