import { type DeliveryPermit, newUuid, permitWaitMs } from '@vat/domain';
import { reportFigure, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer } from './create-producer.js';
import { endpointPermits } from './endpoint-permits.js';
import { DELIVERY_QUEUES, type DeliveryJob } from './job-catalogue.js';
import { type Consumer, type JobContext, startConsumer } from './start-consumer.js';
import { raise, testRedis } from './test-redis.fixture.js';

const SHARE = 4;
/** Longer than the delay between two calls on a busy machine. */
const SLOW_AFTER_MS = 2_000;

const redis = testRedis();

const limiter = (promote: (queueClass: 'first' | 'retry', jobId: string) => Promise<void>) =>
  endpointPermits({
    connection: redis.connection,
    prefix: redis.prefix,
    share: SHARE,
    slowShare: 2,
    slowAfterMs: SLOW_AFTER_MS,
    holdMs: 20_000,
    promote,
  });
/** A new endpoint, and the jobs that were promoted for it. */
const endpoint = () => {
  const promoted: string[] = [];
  const acquire = limiter(async (queueClass, jobId) => void promoted.push(`${queueClass} ${jobId}`));
  const id = newUuid();
  return {
    promoted,
    acquire: (jobId: string, queueClass: 'first' | 'retry' = 'first') => acquire(id, jobId, queueClass),
  };
};
const taken = (permit: DeliveryPermit) => {
  if (permit.kind !== 'taken') throw new Error(`the permit is ${permit.kind}`);
  return permit;
};
const acquireAll = async (acquire: (jobId: string) => Promise<DeliveryPermit>) =>
  Promise.all(Array.from({ length: SHARE }, async (_, n) => taken(await acquire(`in-flight-${n}`))));

test('an endpoint has four permits, and a released one can be acquired again', async () => {
  const { acquire } = endpoint();
  const [permit] = await acquireAll(acquire);
  expect(await acquire('another')).toEqual({ kind: 'full', waiting: 1 });
  await permit?.release(5);
  taken(await acquire('another'));
  expect(await acquire('yet another')).toEqual({ kind: 'full', waiting: 1 });
});

test('permits of a clock that was ahead are not waited for', async () => {
  const id = newUuid();
  const acquire = limiter(async () => undefined);
  await Promise.all(Array.from({ length: SHARE }, (_, n) => acquire(id, `in-flight-${n}`, 'first')));
  expect(await acquire(id, 'another', 'first')).toMatchObject({ kind: 'full' });
  // As a master whose clock is ten minutes behind sees them.
  const flights = `${redis.prefix}:{endpoint-${id}}:flights`;
  for (const job of await redis.connection.zrange(flights, 0, '-1'))
    await redis.connection.zincrby(flights, 600_000, job);
  taken(await acquire(id, 'another', 'first'));
});

test('a job whose worker died takes over its own permit', async () => {
  const { acquire } = endpoint();
  await acquireAll(acquire);
  expect(await acquire('another')).toEqual({ kind: 'full', waiting: 1 });
  taken(await acquire('in-flight-2'));
});

test('a slow endpoint moves to the retry queue with two permits, and has four when it responds quickly again', async () => {
  const { acquire } = endpoint();
  await taken(await acquire('slow')).release(SLOW_AFTER_MS * 2);
  expect(await acquire('a')).toEqual({ kind: 'slow' });
  const permits = [taken(await acquire('a', 'retry')), taken(await acquire('b', 'retry'))];
  expect(await acquire('c', 'retry')).toEqual({ kind: 'full', waiting: 1 });
  for (const permit of permits) await permit.release(1);
  const again = await Promise.all(['d', 'e', 'f', 'g'].map(async (jobId) => taken(await acquire(jobId))));
  // With `c`, whose turn has not come again.
  expect(await acquire('h')).toEqual({ kind: 'full', waiting: 2 });
  for (const permit of again) await permit.release(1);
});

test('an attempt that was not made does not change how quick its endpoint is', async () => {
  const { acquire } = endpoint();
  await taken(await acquire('slow')).release(SLOW_AFTER_MS * 2);
  for (let n = 0; n < 10; n += 1) await taken(await acquire('aborted', 'retry')).release(null);
  expect(await acquire('a')).toEqual({ kind: 'slow' });
});

test('one attempt that is in flight for too long makes its endpoint slow', async () => {
  const { acquire } = endpoint();
  taken(await acquire('hanging'));
  await until('the endpoint to be slow', async () => (await acquire('another')).kind === 'slow');
});

test('a released permit promotes the job that was refused first, of either queue', async () => {
  const { acquire, promoted } = endpoint();
  const permits = await acquireAll(acquire);
  await acquire('a', 'retry');
  // Times are in milliseconds.
  await new Promise((resolve) => setTimeout(resolve, 5));
  for (const jobId of ['b', 'c', 'd', 'e']) await acquire(jobId);
  await permits[0]?.release(5);
  expect(promoted).toEqual(['retry a']);
  // Permits are unused: two jobs are promoted.
  await permits[1]?.release(5);
  expect(promoted).toHaveLength(3);
});

test('no job is promoted for a permit that was not used: its own job runs again', async () => {
  const { acquire, promoted } = endpoint();
  const [permit] = await acquireAll(acquire);
  await acquire('waiting');
  await permit?.release(null);
  expect(promoted).toEqual([]);
});

test('a job whose promotion failed is promoted again by a later release', async () => {
  const promoted: string[] = [];
  const [id, acquire] = [
    newUuid(),
    limiter(async (_class, jobId) => {
      promoted.push(jobId);
      throw new Error('the job is not delayed yet');
    }),
  ];
  const [first, second] = await acquireAll((jobId) => acquire(id, jobId, 'first'));
  await acquire(id, 'waiting', 'first');
  await first?.release(5);
  expect(promoted).toEqual(['waiting']);
  await second?.release(5);
  expect(promoted).toEqual(['waiting', 'waiting']);
  const permit = taken(await acquire(id, 'waiting', 'first'));
  await permit.release(5);
  expect(promoted).toHaveLength(2);
});

test('a burst to few endpoints uses all of their permits, never more, and runs each job once', async () => {
  const producer = createProducer(redis.connection, redis.prefix);
  const acquire = limiter((queueClass, jobId) => producer.promote(DELIVERY_QUEUES[queueClass], jobId));
  const accounts = [newUuid(), newUuid()];
  const inFlight = new Map<string, number>();
  let maxInFlight = 0;
  const done: string[] = [];
  let started = 0;
  const handle = async ({ account_id: account }: DeliveryJob, { jobId, runs }: JobContext) => {
    started += 1;
    const permit = await acquire(account, jobId, 'first');
    if (permit.kind === 'full')
      return { again: new Date(Date.now() + permitWaitMs({ runs, waiting: permit.waiting, random: Math.random() })) };
    if (permit.kind === 'slow') throw new Error('the endpoint is not slow');
    const open = (inFlight.get(account) ?? 0) + 1;
    inFlight.set(account, open);
    maxInFlight = Math.max(maxInFlight, open);
    await new Promise((resolve) => setTimeout(resolve, 20)); // the response time of the receiver
    inFlight.set(account, (inFlight.get(account) ?? 0) - 1);
    done.push(jobId);
    await permit.release(20);
    return undefined;
  };
  const jobs = Array.from({ length: 160 }, (_, n) => ({
    payload: { delivery_id: newUuid(), account_id: accounts[n % accounts.length] ?? '', attempt: 1 },
  }));
  await producer.enqueueAll(DELIVERY_QUEUES.first, jobs);
  const startedAt = performance.now();
  const connections: RedisConnection[] = [];
  const consumers: Consumer[] = [];
  for (let n = 0; n < 2; n += 1) {
    const connection = connectRedis(redis.url, 'consumer', raise);
    connections.push(connection);
    const options = {
      connection,
      prefix: redis.prefix,
      stopping: new AbortController().signal,
      onJobError: raise,
      onError: raise,
    };
    consumers.push(startConsumer({ ...DELIVERY_QUEUES.first, processConcurrency: 20 }, handle, options));
  }
  try {
    await until('all jobs to finish', () => done.length >= jobs.length);
  } finally {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    for (const connection of connections) connection.disconnect();
    await producer.close();
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  reportFigure(
    `permits: 160 jobs of 20 ms to two endpoints took ${seconds.toFixed(2)} s and ${started} runs, 0.4 s at best`,
  );
  expect(maxInFlight).toBe(SHARE);
  expect(new Set(done).size).toBe(jobs.length);
  expect(done).toHaveLength(jobs.length);
});
