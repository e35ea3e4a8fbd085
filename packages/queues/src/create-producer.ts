import { Job, type Queue } from 'bullmq';
import { defineScript, type RedisConnection, withinCommandTimeout } from './connect-redis.js';
import { PRIORITIES, type PriorityClass, type QueueDefinition } from './job-catalogue.js';
import { closeQueues, openQueue } from './open-queue.js';
import { createTurns } from './turns.js';

/** `priority`: of a queue without turns; in the others the turn of the job determines it. */
type Enqueue<P> = {
  definition: QueueDefinition<P>;
  payload: P;
  priority?: PriorityClass;
  dueAt?: Date;
};

/** Adds jobs to any queue of the catalogue, over one shared connection. */
export type Producer = {
  /** Adds a job; has no effect while a job with its id exists. Fails within about a second while Redis is unavailable. */
  enqueue: <P>(job: Enqueue<P>) => Promise<void>;
  /**
   * Takes the place of a job while its row is being written, which saves its caller a round trip. `enqueue` is called once the
   * row is there, `drop` if it never will be.
   */
  prepare: <P>(job: Enqueue<P>) => PreparedJob;
  /** Adds many jobs of one queue. */
  enqueueAll: <P>(definition: QueueDefinition<P>, jobs: Omit<Enqueue<P>, 'definition'>[]) => Promise<void>;
  /** Moves a waiting job to another class; has no effect when the job does not exist. */
  reclassify: <P>(definition: QueueDefinition<P>, payload: P, priority: PriorityClass) => Promise<void>;
  /** Runs a delayed job now. Fails when the job is not delayed (any more), and while Redis is unavailable. */
  promote: (definition: Pick<QueueDefinition, 'name'>, jobId: string) => Promise<void>;
  /**
   * Returns the ids that have no job which waits, is delayed or runs. A finished job that was not removed counts as none, and
   * is removed: BullMQ would ignore a new job of its id. So is, of `overdue` jobs, one that is delayed for longer than any of them
   * waits: a worker whose clock was ahead has put it off.
   */
  withoutJob: (
    definition: Pick<QueueDefinition, 'name'>,
    jobIds: readonly string[],
    of?: { overdue: boolean },
  ) => Promise<string[]>;
  /** Writes the queue's global concurrency limit to Redis, where a flush deletes it. */
  assertGlobalConcurrency: (definition: Pick<QueueDefinition, 'name' | 'globalConcurrency'>) => Promise<void>;
  close: () => Promise<void>;
};

/** Finished jobs are removed: rows are the record, and BullMQ ignores a new job whose id still exists. */
const REMOVE_WHEN_FINISHED = { removeOnComplete: true, removeOnFail: true } as const;

/** Jobs added in one pipeline, and ids looked up in one script: a few milliseconds of Redis, and short turns of the event loop. */
const ADDED_AT_ONCE = 100;
const LOOKED_UP_AT_ONCE = 500;

/** An overdue job is delayed for five minutes at most, after many failures. */
const MAX_DELAY_OF_OVERDUE_MS = 600_000;

/** What {@link FIND_JOBS} returns for each id. */
const MISSING = '0';
const USELESS = '2';

/**
 * One character an id, in one round trip: whether the queue has its job. KEYS[1] is the beginning of the keys of the queue's
 * jobs; as in BullMQ's own scripts the keys are formed here, on the node of the queue. ARGV[1]: the latest time, in milliseconds, until
 * which a job may be delayed. BullMQ's scores of delayed jobs are such times with twelve more bits.
 */
const FIND_JOBS = `
local states = {}
for i = 2, #ARGV do
  local job = redis.call('HMGET', KEYS[1] .. ARGV[i], 'timestamp', 'finishedOn')
  local score = redis.call('ZSCORE', KEYS[1] .. 'delayed', ARGV[i])
  local useless = job[2] or score and tonumber(score) / 0x1000 > tonumber(ARGV[1])
  states[i - 1] = useless and '2' or job[1] and '1' or '0'
end
return table.concat(states)`;

/** Calls `work` with `items` in chunks of `size`, one after another. */
const inChunks = async <T>(
  items: readonly T[],
  size: number,
  work: (chunk: T[]) => Promise<unknown>,
): Promise<void> => {
  for (let from = 0; from < items.length; from += size) await work(items.slice(from, from + size));
};

/** A job that is ready to be added. Without `drop`, the account waits behind the place of a job that never comes. */
export type PreparedJob = { enqueue: () => Promise<void>; drop: () => void };

/** `prefix` separates deployments and tests that share one Redis. `now`: the clock of due times. */
export const createProducer = (
  connection: RedisConnection,
  prefix: string,
  now: () => Date = () => new Date(),
): Producer => {
  const queues = new Map<string, Queue>();
  const findJobs = defineScript<string>(connection, 'findJobs', 1, FIND_JOBS);
  const queueOf = (definition: Pick<QueueDefinition, 'name'>): Queue => {
    const known = queues.get(definition.name);
    if (known) return known;
    const queue = openQueue(definition.name, { connection, prefix, defaultJobOptions: REMOVE_WHEN_FINISHED });
    queues.set(definition.name, queue);
    return queue;
  };
  const turns = createTurns(connection);
  const placedJob = <P>(definition: QueueDefinition<P>, payload: P) => {
    const turn = definition.turnOf?.(payload);
    return turn === undefined ? null : { turn, id: definition.jobId(payload) };
  };
  /** The priorities of jobs that are about to be added. */
  const prioritiesOf = async <P>(
    definition: QueueDefinition<P>,
    jobs: readonly Omit<Enqueue<P>, 'definition'>[],
  ): Promise<number[]> => {
    const byClass = jobs.map(({ priority }) => PRIORITIES[priority ?? 'interactive']);
    const placed = jobs.map(({ payload }) => placedJob(definition, payload));
    const some = placed.filter((job) => job !== null);
    if (some.length === 0) return byClass;
    const places = await turns.take(queueOf(definition), some);
    return placed.map((job, n) => (job === null ? byClass[n] : places.shift()) ?? 0);
  };
  const options = <P>(definition: QueueDefinition<P>, job: Omit<Enqueue<P>, 'definition'>, priority = 0) => ({
    jobId: definition.jobId(job.payload),
    priority,
    delay: job.dueAt ? Math.max(0, job.dueAt.getTime() - now().getTime()) : 0,
  });

  const prepare: Producer['prepare'] = (job) => {
    const { definition } = job;
    const takePlace = async (): Promise<number | undefined> => {
      if (connection.status !== 'ready') throw new Error(`Redis is ${connection.status}`);
      return (await withinCommandTimeout(prioritiesOf(definition, [job])))[0];
    };
    const place = takePlace();
    const placed = placedJob(definition, job.payload);
    const returnPlace = async () => {
      await place;
      if (placed !== null) await turns.giveBack(queueOf(definition), placed);
    };
    // Its failure is that of `enqueue`.
    place.catch(() => undefined);
    return {
      enqueue: async () => {
        const payload = definition.payload.parse(job.payload);
        const add = async () => {
          const priority = await place;
          await queueOf(definition).add('job', payload, options(definition, job, priority));
        };
        // One time-out for both: during a failover a place may arrive late, and the new master not answer yet.
        await withinCommandTimeout(add());
      },
      // What is not given back ends some seconds later.
      drop: () => void returnPlace().catch(() => undefined),
    };
  };

  return {
    enqueue: (job) => prepare(job).enqueue(),
    prepare,
    enqueueAll: async (definition, jobs) => {
      await inChunks(jobs, ADDED_AT_ONCE, async (chunk) => {
        const priorities = await prioritiesOf(definition, chunk);
        await queueOf(definition).addBulk(
          chunk.map((job, n) => ({ name: 'job', data: job.payload, opts: options(definition, job, priorities[n]) })),
        );
      });
    },
    reclassify: async (definition, payload, priority) => {
      const queue = queueOf(definition);
      const turn = definition.turnOf?.(payload);
      const job = await withinCommandTimeout(queue.getJob(definition.jobId(payload)));
      await job?.changePriority({
        priority: turn === undefined ? PRIORITIES[priority] : await turns.move(queue, turn, priority),
      });
    },
    promote: (definition, jobId) => withinCommandTimeout(new Job(queueOf(definition), 'job', {}, {}, jobId).promote()),
    withoutJob: async (definition, jobIds, { overdue } = { overdue: false }) => {
      const queue = queueOf(definition);
      const latest = overdue ? now().getTime() + MAX_DELAY_OF_OVERDUE_MS : Number.MAX_SAFE_INTEGER;
      const without: string[] = [];
      await inChunks(jobIds, LOOKED_UP_AT_ONCE, async (chunk) => {
        const states = await withinCommandTimeout(findJobs(queue.toKey(''), latest, ...chunk));
        const useless = chunk.filter((_jobId, n) => states[n] === USELESS);
        await withinCommandTimeout(Promise.all(useless.map((jobId) => queue.remove(jobId))));
        without.push(...chunk.filter((_jobId, n) => states[n] === MISSING || states[n] === USELESS));
      });
      return without;
    },
    assertGlobalConcurrency: async (definition) => {
      if (definition.globalConcurrency !== null)
        await queueOf(definition).setGlobalConcurrency(definition.globalConcurrency);
    },
    close: () => closeQueues(queues.values()),
  };
};
