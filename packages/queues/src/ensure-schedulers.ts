import { randomUUID } from 'node:crypto';
import type { RedisConnection } from './connect-redis.js';
import type { Producer } from './create-producer.js';
import { maintenanceQueue, QUEUES, type QueueDefinition } from './job-catalogue.js';
import { closeQueues, openQueue } from './open-queue.js';

/** A repeating job. `id` identifies it within its queue. */
type ScheduledJob = {
  queue: Pick<QueueDefinition, 'name'>;
  id: string;
  payload: Record<string, unknown>;
  everyMs: number;
};

type EnsureSchedulersOptions = {
  connection: RedisConnection;
  producer: Producer;
  prefix: string;
  /** Queues with a global concurrency limit in Redis. */
  capped: Pick<QueueDefinition, 'name' | 'globalConcurrency'>[];
  schedule: readonly ScheduledJob[];
  /** Called by one process, once, after Redis was found without its data; also on the first start. */
  onLoss: () => Promise<void>;
  onError: (error: unknown) => void;
  /** The clock of this machine, in milliseconds since 1970, which BullMQ uses. */
  ownTime?: () => number;
};

const POLL_INTERVAL_MS = 1_000;
/** How often it is checked that every repeating job has a next run, soon enough. */
const RUNS_CHECKED_EVERY_MS = 60_000;
/** Two clocks that NTP sets differ by less. */
const CLOCK_TOLERANCE_MS = 60_000;
/** The time to live of the lock under which one process restores; if that process dies, another takes over. */
const LOCK_TTL_MS = 15_000;
const LOCK_RENEWAL_INTERVAL_MS = 5_000;

// A process also gets the lock that it already has: the reply to its last attempt may have been lost.
const LOCK = `
  if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
  return redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2], 'NX') and 1 or 0`;
const RENEW = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const UNLOCK = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])`;
const FINISH = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('SET', KEYS[1], 1)`;

/** The value of a marker whose restore has ended. During a restore it holds the id of the process that restores. */
const RESTORED = '1';

/**
 * Ensures that Redis holds the global concurrency limits of the queues and the schedule of the repeating jobs. A flush, or a
 * restart without data, deletes both. A marker key is therefore checked every second and on every reconnect; when it is
 * missing, one process writes everything again and the rows are swept. In a cluster each queue has its own marker, since one
 * master can lose its data alone. Every script has one key, so that a cluster accepts it. A process that starts with a different schedule than
 * the stored one writes its own, once: the process started last determines the schedule, and the others do not treat that
 * as a loss of data.
 */
export const ensureSchedulers = (options: EnsureSchedulersOptions): { close: () => Promise<void> } => {
  const { connection, producer, prefix, capped, schedule, onLoss, onError, ownTime = Date.now } = options;
  const markerKeys = [
    `${prefix}:primed`,
    ...(connection.isCluster ? Object.values(QUEUES).map(({ name }) => `${prefix}:${name}:primed`) : []),
  ];
  const scheduleKey = `${prefix}:primed-schedule`;
  const lock = `${prefix}:priming`;
  const me = randomUUID();
  const queues = new Map(
    [...new Set(schedule.map(({ queue }) => queue.name))].map((name) => [
      name,
      openQueue(name, { connection, prefix }),
    ]),
  );

  const version = JSON.stringify(schedule);
  /** Whether this process has written or confirmed the schedule since it started; a process started later may change it. */
  let scheduled = false;
  const repeat = async ({ queue, id, payload, everyMs }: ScheduledJob) => {
    const opts = { removeOnComplete: true, removeOnFail: true };
    await queues.get(queue.name)?.upsertJobScheduler(id, { every: everyMs }, { name: 'job', data: payload, opts });
  };
  const write = async () => {
    for (const definition of capped) await producer.assertGlobalConcurrency(definition);
    for (const job of schedule) {
      const queue = queues.get(job.queue.name);
      const stored = await queue?.getJobScheduler(job.id);
      // BullMQ keeps the offset of the former interval, and adds it to a run that is late: that run would come an hour too late
      // when an interval of an hour was made one of seconds.
      if (stored !== undefined && stored.every !== job.everyMs) await queue?.removeJobScheduler(job.id);
      await repeat(job);
    }
  };
  const missingMarkers = async (): Promise<string[]> => {
    const values = await Promise.all(markerKeys.map((key) => connection.get(key)));
    return markerKeys.filter((_key, n) => values[n] !== RESTORED);
  };
  /**
   * BullMQ dates the next run by the clock of the machine that begins the last one. If that clock was ahead, and is right again or its
   * machine gone, nobody would run the job until then. Nor would anybody once the next run is missing: Redis may have lost it in a
   * failover, or a process ended before it had replaced it.
   */
  const replaceRuns = async () => {
    // What is missing is about to be restored.
    if ((await missingMarkers()).length > 0) return;
    for (const job of schedule) {
      const queue = queues.get(job.queue.name);
      const { next = 0, every = job.everyMs } = (await queue?.getJobScheduler(job.id)) ?? {};
      const inMs = next - ownTime();
      const isMissing = inMs < -CLOCK_TOLERANCE_MS && (await queue?.getJob(`repeat:${job.id}:${next}`)) === undefined;
      if (!isMissing && inMs <= every + CLOCK_TOLERANCE_MS) continue;
      await queue?.removeJobScheduler(job.id);
      await repeat({ ...job, everyMs: every });
    }
  };
  const restore = async () => {
    // Another process may have completed its restore between the first look at the markers and the lock.
    const missing = await missingMarkers();
    if (missing.length === 0) return;
    await Promise.all(missing.map((key) => connection.set(key, me, 'PX', LOCK_TTL_MS)));
    const renewing = setInterval(() => {
      for (const key of [lock, ...missing]) connection.eval(RENEW, 1, key, me, LOCK_TTL_MS).catch(onError);
    }, LOCK_RENEWAL_INTERVAL_MS);
    try {
      await write();
      await onLoss();
    } finally {
      clearInterval(renewing);
    }
    await connection.set(scheduleKey, version);
    // A marker that is gone was lost again during the restore: it is not set, and the next check restores.
    await Promise.all(missing.map((key) => connection.eval(FINISH, 1, key, me)));
    scheduled = true;
  };
  /** Does what one process does at a time. Returns whether this process did it. */
  const alone = async (work: () => Promise<void>): Promise<boolean> => {
    if ((await connection.eval(LOCK, 1, lock, me, LOCK_TTL_MS)) !== 1) return false;
    try {
      await work();
      return true;
    } finally {
      // After a failure the next check tries again, in this process or another; it need not wait until the lock expires.
      await connection.eval(UNLOCK, 1, lock, me).catch(onError);
    }
  };

  const ensureSchedule = async () => {
    if ((await connection.get(scheduleKey)) !== version) {
      await write();
      await connection.set(scheduleKey, version);
    }
    scheduled = true;
  };

  const enqueueSweep = () => producer.enqueue({ definition: maintenanceQueue, payload: { task: 'sweep' } });
  let runsCheckedAt = Number.NEGATIVE_INFINITY;
  let busy = false;
  /** A check that is cut off by the end of the process has no error to report. */
  let closed = false;
  /** Whether Redis, or one master of a cluster, did not respond at the last check. */
  let away = true;
  const check = async () => {
    if (busy) return;
    if (connection.status !== 'ready') {
      away = true;
      return;
    }
    busy = true;
    try {
      if ((await missingMarkers()).length > 0) await alone(restore);
      else if (!scheduled) await ensureSchedule();
      const at = ownTime();
      // Also after the clock was set back.
      if (Math.abs(at - runsCheckedAt) >= RUNS_CHECKED_EVERY_MS && (await alone(replaceRuns))) runsCheckedAt = at;
      // Requests accepted while Redis was unavailable wait for a sweep; the next scheduled sweep may be far off.
      if (away) await enqueueSweep();
      away = false;
    } catch (error) {
      away = true;
      if (!closed) onError(error);
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(() => void check(), POLL_INTERVAL_MS);
  // The connection may have been lost and made again between two checks.
  const onReady = () => {
    away = true;
    void check();
  };
  connection.on('ready', onReady);
  void check();
  return {
    close: async () => {
      closed = true;
      clearInterval(timer);
      connection.off('ready', onReady);
      await closeQueues(queues.values());
    },
  };
};
