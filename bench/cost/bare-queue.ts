import { MEMBER_STATES, type MemberState, SLOTS_PER_MEMBER_STATE } from '@vat/domain';
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

/** Counts the calls of a key in a second. */
export const CALL_COUNTER = `local n = redis.call('INCR', KEYS[1])
if n == 1 then redis.call('PEXPIRE', KEYS[1], 1000) end
return n`;

/** The channel, below the prefix, on which `bare-lookups.ts` publishes the ids of requests that have ended. */
export const ENDS = 'bare-ends';

/** The queue of a member state, for `bare-lookups.ts`. */
export const bareQueueOf = (memberState: MemberState): string => `{bare-${memberState}}`;

/** Adds a job for each request to the queue of its member state, of which two run at once over all workers. */
export const addBareLookups = async (
  { settings }: Pick<World, 'settings'>,
  requests: readonly { id: string; number: string }[],
): Promise<void> => {
  const connection = connectRedis(String(settings.REDIS_URL), 'consumer', (error) => console.error(error));
  for (const state of MEMBER_STATES) {
    const queue = new Queue(bareQueueOf(state), { connection, prefix: String(settings.REDIS_PREFIX) });
    await queue.setGlobalConcurrency(SLOTS_PER_MEMBER_STATE);
    const jobs = requests.filter(({ number }) => number.startsWith(state));
    await queue.addBulk(jobs.map((data) => ({ name: 'lookup', data })));
    await queue.close();
  }
  connection.disconnect();
};
