import { Job, Queue } from 'bullmq';
import { type RedisConnection, withinCommandTimeout } from './connect-redis.js';
import { PRIORITIES, type PriorityClass, type QueueDefinition } from './job-catalogue.js';

/** `rank`: the order within the class, lowest first; 0 by default. */
type Enqueue<P> = {
  definition: QueueDefinition<P>;
  payload: P;
  priority?: PriorityClass;
  rank?: number;
  dueAt?: Date;
};

/** Adds jobs to any queue of the catalogue, over one shared connection. */
export type Producer = {
  /** Adds a job; has no effect while a job with its id exists. Fails within about a second while Redis is unavailable. */
  enqueue: <P>(job: Enqueue<P>) => Promise<void>;
  /** Adds many jobs of one queue. */
  enqueueAll: <P>(definition: QueueDefinition<P>, jobs: Omit<Enqueue<P>, 'definition'>[]) => Promise<void>;
  /** Moves a waiting job to another class; has no effect when the job does not exist. */
  reclassify: <P>(definition: QueueDefinition<P>, payload: P, priority: PriorityClass) => Promise<void>;
  /** Runs a delayed job now. Fails when the job is not delayed (any more), and while Redis is unavailable. */
  promote: (definition: Pick<QueueDefinition, 'name'>, jobId: string) => Promise<void>;
  /** Returns the ids that have a job in the queue, in any state. */
  present: (definition: Pick<QueueDefinition, 'name'>, jobIds: readonly string[]) => Promise<Set<string>>;
  /** Writes the queue's global concurrency limit to Redis, where a flush deletes it. */
  assertGlobalConcurrency: (definition: Pick<QueueDefinition, 'name' | 'globalConcurrency'>) => Promise<void>;
  close: () => Promise<void>;
};

/** Finished jobs are removed: rows are the record, and BullMQ ignores a new job whose id still exists. */
const REMOVE_WHEN_FINISHED = { removeOnComplete: true, removeOnFail: true } as const;

/** `prefix` separates deployments and tests that share one Redis. */
export const createProducer = (connection: RedisConnection, prefix: string): Producer => {
  const queues = new Map<string, Queue>();
  const queueOf = (definition: Pick<QueueDefinition, 'name'>): Queue => {
    const known = queues.get(definition.name);
    if (known) return known;
    const queue = new Queue(definition.name, {
      connection,
      prefix,
      skipVersionCheck: true,
      // The event streams are not read; a short maximum length limits their memory.
      streams: { events: { maxLen: 10 } },
      defaultJobOptions: REMOVE_WHEN_FINISHED,
    });
    queue.on('error', () => undefined); // the shared connection reports its own errors
    queues.set(definition.name, queue);
    return queue;
  };
  const options = <P>(definition: QueueDefinition<P>, job: Omit<Enqueue<P>, 'definition'>) => ({
    jobId: definition.jobId(job.payload),
    priority: PRIORITIES[job.priority ?? 'interactive'] + (job.rank ?? 0),
    delay: job.dueAt ? Math.max(0, job.dueAt.getTime() - Date.now()) : 0,
  });

  return {
    enqueue: async (job) => {
      if (connection.status !== 'ready') throw new Error(`Redis is ${connection.status}`);
      const payload = job.definition.payload.parse(job.payload);
      await withinCommandTimeout(queueOf(job.definition).add('job', payload, options(job.definition, job)));
    },
    enqueueAll: async (definition, jobs) => {
      if (jobs.length === 0) return;
      const bulk = jobs.map((job) => ({ name: 'job', data: job.payload, opts: options(definition, job) }));
      await queueOf(definition).addBulk(bulk);
    },
    reclassify: async (definition, payload, priority) => {
      const job = await withinCommandTimeout(queueOf(definition).getJob(definition.jobId(payload)));
      await job?.changePriority({ priority: PRIORITIES[priority] });
    },
    promote: (definition, jobId) => withinCommandTimeout(new Job(queueOf(definition), 'job', {}, {}, jobId).promote()),
    present: async (definition, jobIds) => {
      const queue = queueOf(definition);
      const found = await withinCommandTimeout(
        Promise.all(jobIds.map((jobId) => connection.exists(queue.toKey(jobId)))),
      );
      return new Set(jobIds.filter((_jobId, n) => found[n] === 1));
    },
    assertGlobalConcurrency: async (definition) => {
      if (definition.globalConcurrency !== null)
        await queueOf(definition).setGlobalConcurrency(definition.globalConcurrency);
    },
    close: async () => {
      await Promise.all([...queues.values()].map((queue) => queue.close().catch(() => undefined)));
    },
  };
};
