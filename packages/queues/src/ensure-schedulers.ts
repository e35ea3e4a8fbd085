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

export type EnsureSchedulersOptions = {
  connection: Redis;
  producer: Producer;
  prefix: string;
  /** Queues whose cap over the fleet lives in Redis. */
  capped: Pick<QueueDefinition, 'name' | 'globalConcurrency'>[];
  schedule: readonly ScheduledJob[];
  /** Called once by one process after Redis was found without its data, the first start included. */
  onLoss: () => Promise<void>;
  onError: (error: unknown) => void;
};

const POLL_INTERVAL_MS = 1_000;
/** One process restores at a time; if it dies doing so, another takes over. */
const RESTORING_MS = 15_000;
const RENEW_EVERY_MS = 5_000;

const RENEW = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const FINISH = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[2], 1)
  redis.call('SET', KEYS[3], ARGV[2])
  return redis.call('DEL', KEYS[1])`;

/**
 * Keeps in Redis what is not a job: the queues' caps and the schedule of the jobs that come again. Both vanish with a flush
 * or a restart without data, so a mark beside them is looked for every second and on every reconnect; when it is gone,
 * everything is written again and the rows are swept. A process that starts and finds another schedule than its own writes
 * its own, once: of processes with different settings the last one started is right, and none takes the others' for a loss.
 */
export const ensureSchedulers = (options: EnsureSchedulersOptions): { close: () => Promise<void> } => {
  const { connection, producer, prefix, capped, schedule, onLoss, onError } = options;
  const mark = `${prefix}:primed`;
  const plan = `${prefix}:primed-schedule`;
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

  const version = JSON.stringify(schedule);
  /** Whether the schedule in Redis has been this process's since it started; whoever starts later may change it. */
  let planned = false;
  const write = async () => {
    for (const definition of capped) await producer.assertGlobalConcurrency(definition);
    const opts = { removeOnComplete: true, removeOnFail: true };
    for (const { queue, id, payload, everyMs } of schedule) {
      await queues.get(queue.name)?.upsertJobScheduler(id, { every: everyMs }, { name: 'job', data: payload, opts });
    }
  };
  const restore = async () => {
    if ((await connection.set(lock, me, 'PX', RESTORING_MS, 'NX')) !== 'OK') return;
    const renewing = setInterval(
      () => void connection.eval(RENEW, 1, lock, me, RESTORING_MS).catch(onError),
      RENEW_EVERY_MS,
    );
    try {
      await write();
      await onLoss();
    } finally {
      clearInterval(renewing);
    }
    // Without the lock a second loss fell into the restoring and took part of it along: the next look starts anew.
    await connection.eval(FINISH, 3, lock, mark, plan, me, version);
    planned = true;
  };

  const bringSchedule = async () => {
    if ((await connection.get(plan)) !== version) {
      await write();
      await connection.set(plan, version);
    }
    planned = true;
  };

  let busy = false;
  const look = async () => {
    if (busy || connection.status !== 'ready') return;
    busy = true;
    try {
      if ((await connection.get(mark)) === null) await restore();
      else if (!planned) await bringSchedule();
    } catch (error) {
      onError(error);
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void look(), POLL_INTERVAL_MS);
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
