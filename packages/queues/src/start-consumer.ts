import { DelayedError, type Job, WaitingError, type Worker } from 'bullmq';
import type { RedisConnection } from './connect-redis.js';
import {
  type Payload,
  PRIORITIES,
  type PriorityClass,
  QUEUES,
  type QueueDefinition,
  type QueueName,
} from './job-catalogue.js';
import { createFailureCount, type Failures, type LastSuccess, retryDelayMs } from './job-failures.js';
import { SteadyWorker } from './steady-worker.js';
import { createTurns, withClass } from './turns.js';

/**
 * `undefined` when the job is done; `failed` when it failed and is left to its next scheduled run; `again`: when to run it again,
 * and in which class; `pauseQueueMs`: the job returns to its place in the queue, of which no worker takes a job for that time;
 * null when the queue has been paused already.
 */
type JobResult =
  | { again: Date; priority?: PriorityClass }
  | { pauseQueueMs: number | null }
  | { failed: true }
  | undefined;

/** `runs`: how often the job has been started, this time included. */
export type JobContext = { jobId: string; runs: number; stopping: AbortSignal };
export type JobHandler<P> = (payload: P, context: JobContext) => Promise<JobResult>;

/** The handler of every queue; null for queues that this process does not serve. */
export type JobHandlers = { [Name in QueueName]: JobHandler<Payload<Name>> | null };

export type Consumer = {
  name: string;
  close: (force?: boolean) => Promise<void>;
  /** Changes how many jobs this process runs at once, from the next job on. */
  setConcurrency: (jobs: number) => void;
};

/**
 * `queue`: the name of the job's queue. `failures`: how often the job has failed while others succeeded, this time included.
 * `traceparent`: of the span that the job continues.
 */
type JobRef = { queue: string; jobId: string; failures: number; traceparent?: string | undefined };

type ConsumerOptions = {
  connection: RedisConnection;
  prefix: string;
  /** Called with the error of a handler; the job is retried. */
  onJobError: (error: unknown, job: JobRef) => void;
  /** Called with errors of the connection to Redis. */
  onError: (error: Error) => void;
  stopping: AbortSignal;
  /** The clock of due times; the own one by default, which BullMQ uses. */
  now?: () => Date;
  lastSuccess?: LastSuccess;
};

/**
 * A dead worker's jobs return to their queue after at most LOCK_MS + STALLED_CHECK_MS. The slots of member states do not
 * depend on these locks (see `memberStateSlots`), so a short lock is safe even when an event loop is blocked for longer.
 */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 3_000;

/** A crash of a worker is not the fault of the job, so the job is retried practically without limit. */
const MAX_STALLED = 1_000;

/** How soon a worker looks for its next job again after Redis closed its connection. */
const RETRY_AFTER_CLOSE_MS = 1_000;

/**
 * How often a worker looks whether the pause of its queue was ended early, as by the answer of a member state that was down.
 * One command a queue.
 */
const PAUSE_CHECK_MS = 2_000;

/** Without a limiter BullMQ ignores the pauses of a queue. This one never limits; it costs one command a job. */
const PAUSABLE = { max: Number.MAX_SAFE_INTEGER, duration: 1_000 };

/**
 * Wakes a worker that waits for a job. BullMQ wakes one when a job is added, and when a worker that finished a job takes the
 * next one. A worker that is closing, or that runs more jobs than its share, takes no next one: without this, its place in a
 * queue with a global limit is idle until another worker's wait times out, after five seconds or more.
 */
const wakeWaiting = async (worker: Worker, connection: RedisConnection): Promise<void> => {
  if (connection.status !== 'ready') return;
  // The member and score that BullMQ's scripts write. A worker that finds nothing to do waits again.
  await connection.zadd(worker.toKey('marker'), 0, '0').catch(() => undefined);
};

/**
 * Lets a worker take another job now. Its loop compares the number of jobs with its concurrency only when a job ends or
 * arrives; `Worker.resume` makes it do so in the same way, but has no effect on a worker that is not paused.
 */
const wakeLoop = (worker: Worker): void => {
  const loop = Reflect.get(worker, 'mainLoopQueue') as
    | { add: (fetched: Promise<undefined>) => void }
    | null
    | undefined;
  loop?.add(Promise.resolve(undefined));
};

/** Runs a queue's jobs in this process. Handlers have no time limit here: every outgoing call has a deadline. */
export const startConsumer = <P>(
  definition: QueueDefinition<P>,
  handle: JobHandler<P>,
  options: ConsumerOptions,
): Consumer => {
  const { connection, prefix, stopping, onJobError, onError, now = () => new Date() } = options;
  const failures = createFailureCount({ now, lastSuccess: options.lastSuccess });
  const turns = createTurns(connection);
  let active = 0;
  let closing = false;
  /** How many jobs this process may run at once. */
  let share = definition.processConcurrency;
  /** Whether the queue was empty when a next job was fetched last. */
  let isDrained = true;
  /**
   * Returns a job to its place in the queue. Neither that nor the end of a pause wakes a worker that waits for a job: it finds the
   * pause now and waits until its end, or takes the job.
   */
  const putBack = async (job: Job<P & Failures>, token: string | undefined): Promise<never> => {
    await job.moveToWait(token);
    await wakeWaiting(worker, connection);
    throw new WaitingError();
  };
  const runOnce = async (job: Job<P & Failures>, token: string | undefined): Promise<void> => {
    const ref = { queue: definition.name, jobId: job.id ?? '' };
    const payload = definition.payload.safeParse(job.data);
    if (!payload.success) {
      onJobError(payload.error, { ...ref, failures: 1 });
      return;
    }
    const turn = definition.turnOf?.(payload.data);
    if (turn !== undefined) {
      const isFirst = job.attemptsStarted === 1;
      const leave = () => turns.leave(worker, turn, ref.jobId, isFirst);
      // A first run is counted after the handler has sent what a caller waits for.
      if (isFirst) setImmediate(leave);
      const place = isFirst ? null : await leave();
      if (place !== null) {
        await job.changePriority({ priority: place });
        await putBack(job, token);
      }
    }
    let result: JobResult;
    const startedAt = now().getTime();
    try {
      result = await handle(payload.data, { jobId: ref.jobId, runs: job.attemptsStarted, stopping });
      if (result === undefined) failures.noteSuccess(startedAt);
      if (result === undefined || 'failed' in result) return;
      await failures.reset(job);
    } catch (error) {
      const count = await failures.add(job);
      onJobError(error, { ...ref, failures: count, traceparent: definition.trace?.of(payload.data) });
      result = { again: new Date(now().getTime() + retryDelayMs(count)) };
    }
    if ('pauseQueueMs' in result) {
      if (result.pauseQueueMs !== null) await worker.rateLimit(result.pauseQueueMs);
      return putBack(job, token);
    }
    if (turn !== undefined) {
      const changed = result.priority === undefined ? turn : withClass(turn, result.priority);
      await turns.retryLater(worker, changed, ref.jobId);
    } else if (result.priority !== undefined) {
      await job.changePriority({ priority: PRIORITIES[result.priority] });
    }
    await job.moveToDelayed(Date.now() + result.again.getTime() - now().getTime(), token);
    if (closing || active > worker.concurrency) await wakeWaiting(worker, connection);
    throw new DelayedError();
  };
  /**
   * BullMQ fetches a second job before it runs the first, while there may be two. In a worker without jobs there may be one, until it
   * runs: a direct check is looked up a millisecond or two sooner (docs/benchmarks.md).
   */
  const allowShare = (): void => {
    worker.concurrency = share;
    wakeLoop(worker);
  };
  const run = async (job: Job<P & Failures>, token: string | undefined): Promise<void> => {
    active += 1;
    isDrained = false;
    if (worker.concurrency < share) setImmediate(allowShare);
    try {
      await runOnce(job, token);
    } finally {
      active -= 1;
    }
  };
  const worker: Worker<P & Failures> = new SteadyWorker(definition.name, run, {
    connection,
    prefix,
    concurrency: 1,
    // No `skipVersionCheck`: without the version of Redis a worker waits in whole seconds for a job that is due sooner.
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    maxStalledCount: MAX_STALLED,
    runRetryDelay: RETRY_AFTER_CLOSE_MS,
    maximumRateLimitDelay: PAUSE_CHECK_MS,
    ...(definition.globalConcurrency === null ? {} : { limiter: PAUSABLE }),
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  worker.on('error', onError);
  worker.on('drained', () => {
    isDrained = true;
  });
  worker.on('completed', () => {
    if (isDrained && active === 0) worker.concurrency = 1;
    if (closing || active >= worker.concurrency) void wakeWaiting(worker, connection);
  });
  return {
    name: definition.name,
    close: async (force) => {
      closing = true;
      await worker.close(force);
      // What woke this worker while it was closing is for another one.
      await wakeWaiting(worker, connection);
    },
    setConcurrency: (jobs) => {
      share = jobs;
      if (active > 0) allowShare();
      else worker.concurrency = 1;
    },
  };
};

/** Runs the jobs of all queues that have a handler. */
export const startConsumers = (handlers: JobHandlers, options: ConsumerOptions): Consumer[] => {
  const definitions: { [Name in QueueName]: QueueDefinition<Payload<Name>> } = QUEUES;
  const lastSuccess: LastSuccess = { startedAt: 0 };
  const start = <Name extends QueueName>(name: Name): Consumer[] => {
    const handle = handlers[name];
    return handle === null ? [] : [startConsumer(definitions[name], handle, { lastSuccess, ...options })];
  };
  return (Object.keys(definitions) as QueueName[]).flatMap((name) => start(name));
};
