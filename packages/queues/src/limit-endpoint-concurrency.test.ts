import { newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import type { Redis } from 'ioredis';
import { connectRedis } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import { DELIVERY_QUEUES, type DeliveryJob } from './job-catalogue.js';
import { type AcquirePermit, type EndpointPermit, limitEndpointConcurrency } from './limit-endpoint-concurrency.js';
import { type Consumer, startConsumer } from './start-consumer.js';

const SHARE = 4;
const SLOW_SHARE = 2;
/** Longer than the delay between two calls on a busy machine. */
const SLOW_AFTER_MS = 2_000;
const HOLD_MS = 20_000;

let namespace: RedisNamespace;
let connection: Redis;
const raise = (error: unknown): never => {
  throw error;
};
beforeAll(async () => {
  namespace = openRedisNamespace();
  connection = connectRedis(namespace.url, 'producer', raise);
  await until('Redis', () => connection.status === 'ready');
});
afterAll(async () => {
  connection.disconnect();
  await namespace.close();
});

const limiter = (promote: (queueClass: string, jobId: string) => Promise<void>): AcquirePermit =>
  limitEndpointConcurrency({
    connection,
    prefix: namespace.prefix,
    share: SHARE,
    slowShare: SLOW_SHARE,
    slowAfterMs: SLOW_AFTER_MS,
    holdMs: HOLD_MS,
    promote,
  });
/** A new endpoint, and the jobs that were signalled for it. */
const endpoint = () => {
  const id = newUuid();
  const signalled: string[] = [];
  const acquire = limiter(async (queueClass, jobId) => void signalled.push(`${queueClass} ${jobId}`));
  return {
    signalled,
    acquire: (jobId: string, queueClass: 'first' | 'retry' = 'first') => acquire(id, jobId, queueClass),
  };
};
const taken = (permit: EndpointPermit) => {
  if (permit.kind !== 'taken') throw new Error(`the permit is ${permit.kind}`);
  const release = (durationMs: number | null = 5) => permit.release({ durationMs, runsAgain: false });
  return { release, runAgain: () => permit.release({ durationMs: null, runsAgain: true }) };
};
const full = (permit: EndpointPermit) => {
  if (permit.kind !== 'full') throw new Error(`the permit is ${permit.kind}`);
  return permit;
};
const acquireAll = async (acquire: (jobId: string) => Promise<EndpointPermit>) =>
  Promise.all(Array.from({ length: SHARE }, async (_, n) => taken(await acquire(`in-flight-${n}`))));

test('each released permit goes to the oldest suspended job', async () => {
  const { acquire, signalled } = endpoint();
  const permits = await acquireAll(acquire);
  for (const jobId of ['c', 'a', 'b']) await full(await acquire(jobId)).suspend();
  expect(signalled).toEqual([]);
  await permits[0]?.release();
  expect(signalled).toEqual(['first a']);
  await permits[1]?.release();
  expect(signalled).toEqual(['first a', 'first b']);
  // `c` acquires a permit once it is signalled, or after its wait.
  taken(await acquire('a'));
  taken(await acquire('b'));
  full(await acquire('c'));
});

test('a permit released while a job is being suspended signals that job', async () => {
  const { acquire, signalled } = endpoint();
  const [permit] = await acquireAll(acquire);
  const waiting = full(await acquire('late', 'retry'));
  await permit?.release();
  expect(signalled).toEqual([]);
  await waiting.suspend();
  expect(signalled).toEqual(['retry late']);
});

test('no job is signalled for the permit of a job that runs again at once', async () => {
  const { acquire, signalled } = endpoint();
  const [permit] = await acquireAll(acquire);
  await full(await acquire('waiting')).suspend();
  await permit?.runAgain();
  expect(signalled).toEqual([]);
  taken(await acquire('in-flight-0'));
});

test('a job whose worker died takes over its own permit', async () => {
  const { acquire } = endpoint();
  await acquireAll(acquire);
  full(await acquire('another'));
  taken(await acquire('in-flight-2'));
});

test('a job that acquires a permit signals as many others as there are free permits', async () => {
  const { acquire, signalled } = endpoint();
  const permits = await acquireAll(acquire);
  for (const jobId of ['a', 'b', 'c', 'd', 'e']) await full(await acquire(jobId)).suspend();
  // As if the process had ended before it could signal a job.
  for (const permit of permits) await permit.runAgain();
  expect(signalled).toEqual([]);
  taken(await acquire('e'));
  expect(signalled).toEqual(['first a', 'first b', 'first c']);
});

test('a slow endpoint moves to the retry queue with two permits, and has four when it responds quickly again', async () => {
  const { acquire } = endpoint();
  await taken(await acquire('slow')).release(SLOW_AFTER_MS * 2);
  expect(await acquire('a')).toEqual({ kind: 'slow' });
  const permits = [taken(await acquire('a', 'retry')), taken(await acquire('b', 'retry'))];
  full(await acquire('c', 'retry'));
  for (const permit of permits) await permit.release(1);
  const again = await Promise.all(['d', 'e', 'f', 'g'].map(async (jobId) => taken(await acquire(jobId))));
  full(await acquire('h'));
  for (const permit of again) await permit.release();
});

test('one attempt that is in flight for too long makes its endpoint slow', async () => {
  const { acquire } = endpoint();
  taken(await acquire('hanging'));
  await until('the endpoint to be slow', async () => (await acquire('another')).kind === 'slow');
});

test('the wait of a suspended job grows with the number of jobs that wait for its endpoint', async () => {
  const { acquire } = endpoint();
  await acquireAll(acquire);
  const waits: number[] = [];
  for (let n = 0; n < 100; n += 1) {
    const permit = full(await acquire(`waiting-${n}`));
    waits.push(permit.waitMs);
    await permit.suspend();
  }
  expect(waits[0]).toBe(30_000);
  expect(waits).toEqual(waits.toSorted((a, b) => a - b));
  expect(waits.at(-1)).toBe(600_000);
});

describe('with queues and two workers', () => {
  const consumerConnections: Redis[] = [];
  const consumers: Consumer[] = [];
  let producer: Producer;
  beforeAll(() => {
    producer = createProducer(connection, namespace.prefix);
  });
  afterAll(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    for (const redis of consumerConnections) redis.disconnect();
    await producer.close();
  });

  test('a burst to few endpoints uses all of their permits, never more, and runs each job once', async () => {
    const acquire = limiter((queueClass, jobId) => producer.promote(DELIVERY_QUEUES[queueClass as 'first'], jobId));
    const accounts = [newUuid(), newUuid()];
    const inFlight = new Map<string, number>();
    let maxInFlight = 0;
    const done: string[] = [];
    const handle = async ({ account_id: account }: DeliveryJob, { jobId }: { jobId: string }) => {
      const permit = await acquire(account, jobId, 'first');
      if (permit.kind === 'full') return { again: new Date(Date.now() + permit.waitMs), onPutOff: permit.suspend };
      if (permit.kind === 'slow') throw new Error('the endpoint is not slow');
      const open = (inFlight.get(account) ?? 0) + 1;
      inFlight.set(account, open);
      maxInFlight = Math.max(maxInFlight, open);
      await new Promise((resolve) => setTimeout(resolve, 20)); // the response time of the receiver
      inFlight.set(account, (inFlight.get(account) ?? 0) - 1);
      done.push(jobId);
      await permit.release({ durationMs: 20, runsAgain: false });
      return undefined;
    };
    const jobs = Array.from({ length: 160 }, (_, n) => ({
      payload: { delivery_id: newUuid(), account_id: accounts[n % accounts.length] ?? '', attempt: 1 },
    }));
    await producer.enqueueAll(DELIVERY_QUEUES.first, jobs);
    const startedAt = performance.now();
    for (let n = 0; n < 2; n += 1) {
      const redis = connectRedis(namespace.url, 'consumer', raise);
      consumerConnections.push(redis);
      const options = {
        connection: redis,
        prefix: namespace.prefix,
        stopping: new AbortController().signal,
        onJobError: raise,
        onError: raise,
      };
      consumers.push(startConsumer({ ...DELIVERY_QUEUES.first, processConcurrency: 20 }, handle, options));
    }
    await until('all jobs to finish', () => done.length >= jobs.length, 15_000);
    const seconds = (performance.now() - startedAt) / 1_000;
    process.stdout.write(`permits: 160 jobs of 20 ms to two endpoints took ${seconds.toFixed(2)} s, 0.4 s at best\n`);
    expect(maxInFlight).toBe(SHARE);
    expect(new Set(done).size).toBe(jobs.length);
    expect(done).toHaveLength(jobs.length);
  }, 30_000);
});
