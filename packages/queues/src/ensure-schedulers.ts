import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Producer } from './create-producer.js';
import { maintenanceQueue, type QueueDefinition } from './job-catalogue.js';

/** A repeating job. `id` identifies it within its queue. */
type ScheduledJob = {
  queue: Pick<QueueDefinition, 'name'>;
  id: string;
  payload: Record<string, unknown>;
  everyMs: number;
};

type EnsureSchedulersOptions = {
  connection: Redis;
  producer: Producer;
  prefix: string;
  /** Queues with a global concurrency limit in Redis. */
  capped: Pick<QueueDefinition, 'name' | 'globalConcurrency'>[];
  schedule: readonly ScheduledJob[];
  /** Called by one process, once, after Redis was found without its data; also on the first start. */
  onLoss: () => Promise<void>;
  onError: (error: unknown) => void;
};

const POLL_INTERVAL_MS = 1_000;
/** The time to live of the lock under which one process restores; if that process dies, another takes over. */
const LOCK_TTL_MS = 15_000;
const LOCK_RENEWAL_INTERVAL_MS = 5_000;

// One script: between a check for the marker and a lock taken after it, another process could have completed its restore.
// A process also gets the lock that it already has: the reply to its last attempt may have been lost.
const LOCK = `
  if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') and 1 or 0`;
const RENEW = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const UNLOCK = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])`;
const FINISH = `
  if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[2], 1)
  redis.call('SET', KEYS[3], ARGV[2])
  return redis.call('DEL', KEYS[1])`;

/**
 * Ensures that Redis holds the global concurrency limits of the queues and the schedule of the repeating jobs. A flush, or a
 * restart without data, deletes both. A marker key is therefore checked every second and on every reconnect; when it is
 * missing, one process writes everything again and the rows are swept. A process that starts with a different schedule than
 * the stored one writes its own, once: the process started last determines the schedule, and the others do not treat that
 * as a loss of data.
 */
export const ensureSchedulers = (options: EnsureSchedulersOptions): { close: () => Promise<void> } => {
  const { connection, producer, prefix, capped, schedule, onLoss, onError } = options;
  const markerKey = `${prefix}:primed`;
  const scheduleKey = `${prefix}:primed-schedule`;
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
  /** Whether this process has written or confirmed the schedule since it started; a process started later may change it. */
  let scheduled = false;
  const write = async () => {
    for (const definition of capped) await producer.assertGlobalConcurrency(definition);
    const opts = { removeOnComplete: true, removeOnFail: true };
    for (const { queue, id, payload, everyMs } of schedule) {
      await queues.get(queue.name)?.upsertJobScheduler(id, { every: everyMs }, { name: 'job', data: payload, opts });
    }
  };
  const restore = async () => {
    if ((await connection.eval(LOCK, 2, lock, markerKey, me, LOCK_TTL_MS)) !== 1) return;
    const renewing = setInterval(
      () => void connection.eval(RENEW, 1, lock, me, LOCK_TTL_MS).catch(onError),
      LOCK_RENEWAL_INTERVAL_MS,
    );
    try {
      await write();
      await onLoss();
    } catch (error) {
      // The next check tries again, in this process or another; it need not wait until the lock expires.
      await connection.eval(UNLOCK, 1, lock, me).catch(onError);
      throw error;
    } finally {
      clearInterval(renewing);
    }
    // When the lock is gone, Redis lost its data again during the restore: no marker is set, and the next check restores.
    await connection.eval(FINISH, 3, lock, markerKey, scheduleKey, me, version);
    scheduled = true;
  };

  const ensureSchedule = async () => {
    if ((await connection.get(scheduleKey)) !== version) {
      await write();
      await connection.set(scheduleKey, version);
    }
    scheduled = true;
  };

  let busy = false;
  const check = async () => {
    if (busy || connection.status !== 'ready') return;
    busy = true;
    try {
      if ((await connection.get(markerKey)) === null) await restore();
      else if (!scheduled) await ensureSchedule();
    } catch (error) {
      onError(error);
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void check(), POLL_INTERVAL_MS);
  const enqueueSweep = () =>
    producer.enqueue({ definition: maintenanceQueue, payload: { task: 'sweep' } }).catch(onError);
  // Requests accepted while Redis was unavailable wait for a sweep; the next scheduled sweep may be far off.
  connection.on('ready', () => void check().then(enqueueSweep));
  void check();
  return {
    close: async () => {
      clearInterval(timer);
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => undefined)));
    },
  };
};
