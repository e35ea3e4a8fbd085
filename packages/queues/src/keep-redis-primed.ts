import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Producer } from './create-producer.js';
import { maintenanceQueue, type QueueDefinition } from './job-catalogue.js';

/** A job that is added again and again. `id` names it within its queue. */
export type ScheduledJob = {
  queue: Pick<QueueDefinition, 'name'>;
  id: string;
  payload: Record<string, unknown>;
  everyMs: number;
};

export type PrimeOptions = {
  connection: Redis;
  producer: Producer;
  prefix: string;
  /** Queues whose cap over the fleet lives in Redis. */
  capped: Pick<QueueDefinition, 'name' | 'fleetConcurrency'>[];
  schedule: readonly ScheduledJob[];
  /** Called once by one process after Redis was found without its data, the first start included. */
  onLoss: () => Promise<void>;
  onError: (error: unknown) => void;
};

const LOOK_EVERY_MS = 1_000;
/** One process restores at a time; if it dies doing so, another takes over. */
const RESTORING_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

const RENEW = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const FINISH = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[2], ARGV[2])
  return redis.call('DEL', KEYS[1])`;

/**
 * Keeps in Redis what is not a job: the queues' caps and the schedule of the jobs that come again. Both vanish with a flush
 * or a restart without data, so a mark beside them is looked for every second and on every reconnect; when it is gone,
 * everything is written again and the rows are swept.
 */
export const keepRedisPrimed = (options: PrimeOptions): { close: () => Promise<void> } => {
  const { connection, producer, prefix, capped, schedule, onLoss, onError } = options;
  const mark = `${prefix}:primed`;
  const lock = `${prefix}:priming`;
  const me = randomUUID();
  const queues = new Map(
    [...new Set(schedule.map(({ queue }) => queue.name))].map((name) => {
      const queue = new Queue(name, {
        connection,
        prefix,
        skipVersionCheck: true,
        streams: { events: { maxLen: 10 } },
      });
      queue.on('error', () => undefined);
      return [name, queue];
    }),
  );

  /** What the mark says: a mark of other figures is as good as none, so that a changed setting takes effect. */
  const version = JSON.stringify(schedule);
  const restore = async () => {
    for (const definition of capped) await producer.assertFleetConcurrency(definition);
    const opts = { removeOnComplete: true, removeOnFail: true };
    for (const { queue, id, payload, everyMs } of schedule) {
      await queues.get(queue.name)?.upsertJobScheduler(id, { every: everyMs }, { name: 'job', data: payload, opts });
    }
    await onLoss();
  };

  let busy = false;
  const look = async () => {
    if (busy || connection.status !== 'ready') return;
    busy = true;
    try {
      if ((await connection.get(mark)) === version) return;
      if ((await connection.set(lock, me, 'PX', RESTORING_MS, 'NX')) !== 'OK') return;
      const renewing = setInterval(
        () => void connection.eval(RENEW, 1, lock, me, RESTORING_MS).catch(onError),
        RENEW_EVERY_MS,
      );
      try {
        await restore();
      } finally {
        clearInterval(renewing);
      }
      // Without the lock a second loss fell into the restoring and took part of it along: the next look starts anew.
      await connection.eval(FINISH, 2, lock, mark, me, version);
    } catch (error) {
      onError(error);
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void look(), LOOK_EVERY_MS);
  const sweepSoon = () => producer.enqueue({ definition: maintenanceQueue, payload: { task: 'sweep' } }).catch(onError);
  // What was accepted while Redis was away waits for a sweep; the schedule's next one may be far off.
  connection.on('ready', () => void look().then(sweepSoon));
  void look();
  return {
    close: async () => {
      clearInterval(timer);
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => undefined)));
    },
  };
};
