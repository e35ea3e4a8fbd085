import { Job, Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { REDIS_COMMAND_TIMEOUT_MS } from './connect-redis.js';
import { PRIORITIES, type PriorityClass, type QueueDefinition } from './job-catalogue.js';

/** `rank`: the order within the class, the lowest first; 0 when left out. */
export type Enqueue<P> = {
  definition: QueueDefinition<P>;
  payload: P;
  priority?: PriorityClass;
  rank?: number;
  dueAt?: Date;
};

/** Adds jobs to any queue of the catalogue, over one shared connection. */
export type Producer = {
  /** Adds a job; adding one that is still there changes nothing. Fails within about a second while Redis is away. */
  enqueue: <P>(job: Enqueue<P>) => Promise<void>;
  /** The same for many jobs of one queue. */
  enqueueAll: <P>(definition: QueueDefinition<P>, jobs: Omit<Enqueue<P>, 'definition'>[]) => Promise<void>;
  /** Moves a job that still waits to another class; does nothing when it is gone. */
  reclassify: <P>(definition: QueueDefinition<P>, payload: P, priority: PriorityClass) => Promise<void>;
  /** Lets a job that waits for its time run now. Fails when it does not wait (any more), and while Redis is away. */
  promote: (definition: Pick<QueueDefinition, 'name'>, jobId: string) => Promise<void>;
  /** Of these ids, those that have a job in the queue, in whatever state. */
  present: (definition: Pick<QueueDefinition, 'name'>, jobIds: readonly string[]) => Promise<Set<string>>;
  /** Writes the queue's cap over the fleet to Redis, where it is lost with a flush. */
  assertGlobalConcurrency: (definition: Pick<QueueDefinition, 'name' | 'globalConcurrency'>) => Promise<void>;
  close: () => Promise<void>;
};

/** Finished jobs are not kept: rows are the record, and a kept job would silently swallow its own re-adding. */
const FORGET = { removeOnComplete: true, removeOnFail: true } as const;

const within = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  // BullMQ waits for a connection that was never up; the caller of an API must not.
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error('Redis did not answer in time')), REDIS_COMMAND_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** `prefix` separates deployments and test worlds on one Redis. */
export const createProducer = (connection: Redis, prefix: string): Producer => {
  const queues = new Map<string, Queue>();
  const queueOf = (definition: Pick<QueueDefinition, 'name'>): Queue => {
    const known = queues.get(definition.name);
    if (known) return known;
    const queue = new Queue(definition.name, {
      connection,
      prefix,
      skipVersionCheck: true,
      // Nobody reads the event streams; keep them from filling Redis.
      streams: { events: { maxLen: 10 } },
      defaultJobOptions: FORGET,
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
      await within(queueOf(job.definition).add('job', payload, options(job.definition, job)));
    },
    enqueueAll: async (definition, jobs) => {
      if (jobs.length === 0) return;
      const bulk = jobs.map((job) => ({ name: 'job', data: job.payload, opts: options(definition, job) }));
      await queueOf(definition).addBulk(bulk);
    },
    reclassify: async (definition, payload, priority) => {
      const job = await within(queueOf(definition).getJob(definition.jobId(payload)));
      await job?.changePriority({ priority: PRIORITIES[priority] });
    },
    promote: (definition, jobId) => within(new Job(queueOf(definition), 'job', {}, {}, jobId).promote()),
    present: async (definition, jobIds) => {
      const queue = queueOf(definition);
      const found = await within(Promise.all(jobIds.map((jobId) => connection.exists(queue.toKey(jobId)))));
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
