import { connectRedis } from '@vat/queues';
import type { World } from '@vat/testkit';
import { Queue } from 'bullmq';

export const BARE_QUEUE = 'bare';
/** Jobs per call, so that no single call to Redis is long. */
const CHUNK = 1_000;

/** Opens the queue of the bare worker. The last thousand jobs that ended are stored, for callers that wait for their end. */
export const openBareQueue = ({ settings }: Pick<World, 'settings'>) => {
  const connection = connectRedis(String(settings.REDIS_URL), 'consumer', (error) => console.error(error));
  const queue = new Queue(BARE_QUEUE, {
    connection,
    prefix: String(settings.REDIS_PREFIX),
    defaultJobOptions: { attempts: 5, removeOnComplete: { count: 1_000 } },
  });
  return {
    queue,
    addAll: async (ids: readonly string[]): Promise<void> => {
      for (let from = 0; from < ids.length; from += CHUNK)
        await queue.addBulk(ids.slice(from, from + CHUNK).map((id) => ({ name: 'check', data: { id } })));
    },
    /** Jobs that have not begun. */
    waiting: () => queue.getWaitingCount(),
    close: async (): Promise<void> => {
      await queue.close();
      connection.disconnect();
    },
  };
};
