import { randomBytes } from 'node:crypto';
import { MEMBER_STATES, newUuid } from '@vat/domain';
import { connectRedis, createProducer, startConsumer, upstreamQueue } from '@vat/queues';
import { until } from '@vat/testkit';
import { Queue, Worker } from 'bullmq';
import { raise } from './open-world.js';

export type QueueFigures = {
  jobs: number;
  /** Jobs per second in the best round of each: our queues, and plain BullMQ with the same concurrency limits. */
  ours_per_s: number;
  bare_per_s: number;
  ratio: number;
};

const WITHIN_MS = 120_000;
/** The first tenth runs cold code on new connections and is not measured. */
const FROM = 0.1;

/** Counts jobs and times the last nine tenths of them. */
const stopwatch = (jobs: number) => {
  let done = 0;
  let startedAt = 0;
  let endedAt = 0;
  return {
    tick: () => {
      done += 1;
      if (done === Math.ceil(jobs * FROM)) startedAt = performance.now();
      if (done === jobs) endedAt = performance.now();
    },
    perSecond: async () => {
      await until('every job to run', () => endedAt > 0, WITHIN_MS);
      return ((jobs - Math.ceil(jobs * FROM)) * 1_000) / (endedAt - startedAt);
    },
  };
};

const runOurs = async (redisUrl: string, perQueue: number): Promise<number> => {
  const prefix = `bench-${randomBytes(6).toString('hex')}`;
  const producing = connectRedis(redisUrl, 'producer', raise);
  const consuming = connectRedis(redisUrl, 'consumer', raise);
  const producer = createProducer(producing, prefix);
  await until('Redis', () => producing.status === 'ready');
  const definitions = MEMBER_STATES.map(upstreamQueue);
  for (const definition of definitions) {
    await producer.assertGlobalConcurrency(definition);
    const jobs = Array.from({ length: perQueue }, () => ({ payload: { request_id: newUuid() } }));
    await producer.enqueueAll(definition, jobs);
  }
  const watch = stopwatch(definitions.length * perQueue);
  const stopping = new AbortController();
  const consumers = definitions.map((definition) =>
    startConsumer(
      definition,
      async () => {
        watch.tick();
        return undefined;
      },
      { connection: consuming, prefix, onJobError: raise, onError: raise, stopping: stopping.signal },
    ),
  );
  const perSecond = await watch.perSecond();
  await Promise.all(consumers.map((consumer) => consumer.close()));
  await producer.close();
  producing.disconnect();
  consuming.disconnect();
  return perSecond;
};

const runBare = async (redisUrl: string, perQueue: number): Promise<number> => {
  const prefix = `bench-${randomBytes(6).toString('hex')}`;
  const connection = connectRedis(redisUrl, 'consumer', raise);
  const names = MEMBER_STATES.map((state) => `{bare-${state}}`);
  const queues = names.map((name) => new Queue(name, { connection, prefix }));
  for (const queue of queues) {
    await queue.setGlobalConcurrency(2);
    await queue.addBulk(Array.from({ length: perQueue }, () => ({ name: 'job', data: { request_id: newUuid() } })));
  }
  const watch = stopwatch(names.length * perQueue);
  const options = { connection, prefix, concurrency: 2, removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } };
  const workers = names.map((name) => new Worker(name, async () => watch.tick(), options));
  const perSecond = await watch.perSecond();
  await Promise.all(workers.map((worker) => worker.close()));
  await Promise.all(queues.map((queue) => queue.close()));
  connection.disconnect();
  return perSecond;
};

/** Runs jobs that do nothing through our consumers and through plain BullMQ, alternating on the same Redis. */
export const measureQueue = async (redisUrl: string, perQueue: number, rounds: number): Promise<QueueFigures> => {
  let ours = 0;
  let bare = 0;
  for (let round = 0; round < rounds; round += 1) {
    bare = Math.max(bare, await runBare(redisUrl, perQueue));
    ours = Math.max(ours, await runOurs(redisUrl, perQueue));
  }
  return {
    jobs: MEMBER_STATES.length * perQueue,
    ours_per_s: Math.round(ours),
    bare_per_s: Math.round(bare),
    ratio: Math.round((ours / bare) * 100) / 100,
  };
};
