import { DelayedError, RateLimitError, Worker } from 'bullmq';
import type { RedisConnection } from './connect-redis.js';
import {
  type Payload,
  PRIORITIES,
  type PriorityClass,
  QUEUES,
  type QueueDefinition,
  type QueueName,
} from './job-catalogue.js';

/**
 * `undefined` when the job is done; `again`: when to run it again, and in which class; `pauseQueueMs`: the job returns to its
 * place in the queue, of which no worker takes a job for that time.
 */
type JobResult = { again: Date; priority?: PriorityClass } | { pauseQueueMs: number } | undefined;

/** `runs`: how often the job has been started, this time included. */
export type JobContext = { jobId: string; runs: number; stopping: AbortSignal };
export type JobHandler<P> = (payload: P, context: JobContext) => Promise<JobResult>;

/** The handler of every queue; null for queues that this process does not serve. */
export type JobHandlers = { [Name in QueueName]: JobHandler<Payload<Name>> | null };

export type Consumer = {
  name: string;
  close: (force?: boolean) => Promise<void>;
  isRunning: () => boolean;
  /** Changes how many jobs this process runs at once, from the next job on. */
  setConcurrency: (jobs: number) => void;
};

/** `queue`: the name of the job's queue. */
type JobRef = { queue: string; jobId: string };

type ConsumerOptions = {
  connection: RedisConnection;
  prefix: string;
  /** Called with the error of a handler; the job is retried. */
  onJobError: (error: unknown, job: JobRef) => void;
  /** Called with errors of the connection to Redis. */
  onError: (error: Error) => void;
  stopping: AbortSignal;
  /** Runs a handler, for example with a context for its log lines. */
  runJob?: (job: JobRef, run: () => Promise<JobResult>) => Promise<JobResult>;
};

/** A job whose handler failed is retried after this; its row shows whether anything is left to do. */
const RETRY_AFTER_ERROR_MS = 1_000;

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

/** Without a limiter BullMQ ignores the pauses of a queue. This one never limits; it costs one command a job. */
const PAUSABLE = { max: Number.MAX_SAFE_INTEGER, duration: 1_000 };

/** Runs a queue's jobs in this process. Handlers have no time limit here: every outgoing call has a deadline. */
export const startConsumer = <P>(
  definition: QueueDefinition<P>,
  handle: JobHandler<P>,
  { connection, prefix, stopping, onJobError, onError, runJob = (_job, run) => run() }: ConsumerOptions,
): Consumer => {
  const worker = new Worker<P>(
    definition.name,
    async (job, token) => {
      const ref = { queue: definition.name, jobId: job.id ?? '' };
      const payload = definition.payload.safeParse(job.data);
      if (!payload.success) {
        onJobError(payload.error, ref);
        return;
      }
      let result: JobResult;
      try {
        result = await runJob(ref, () =>
          handle(payload.data, { jobId: ref.jobId, runs: job.attemptsStarted, stopping }),
        );
      } catch (error) {
        onJobError(error, ref);
        result = { again: new Date(Date.now() + RETRY_AFTER_ERROR_MS) };
      }
      if (result === undefined) return;
      if ('pauseQueueMs' in result) {
        await worker.rateLimit(result.pauseQueueMs);
        throw new RateLimitError();
      }
      if (result.priority !== undefined) await job.changePriority({ priority: PRIORITIES[result.priority] });
      await job.moveToDelayed(result.again.getTime(), token);
      throw new DelayedError();
    },
    {
      connection,
      prefix,
      concurrency: definition.processConcurrency,
      lockDuration: LOCK_MS,
      stalledInterval: STALLED_CHECK_MS,
      maxStalledCount: MAX_STALLED,
      runRetryDelay: RETRY_AFTER_CLOSE_MS,
      ...(definition.globalConcurrency === null ? {} : { limiter: PAUSABLE }),
      removeOnComplete: { count: 0 },
      removeOnFail: { count: 0 },
    },
  );
  worker.on('error', onError);
  return {
    name: definition.name,
    close: (force) => worker.close(force),
    isRunning: () => worker.isRunning(),
    setConcurrency: (jobs) => {
      worker.concurrency = jobs;
    },
  };
};

/** Runs the jobs of all queues that have a handler. */
export const startConsumers = (handlers: JobHandlers, options: ConsumerOptions): Consumer[] => {
  const definitions: { [Name in QueueName]: QueueDefinition<Payload<Name>> } = QUEUES;
  const start = <Name extends QueueName>(name: Name): Consumer[] => {
    const handle = handlers[name];
    return handle === null ? [] : [startConsumer(definitions[name], handle, options)];
  };
  return (Object.keys(definitions) as QueueName[]).flatMap((name) => start(name));
};
