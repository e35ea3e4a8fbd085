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
/** Longer than a busy machine takes between two calls. */
const SLOW_AFTER_MS = 2_000;
const HOLD_MS = 20_000;

let corner: RedisNamespace;
let connection: Redis;
const raise = (error: unknown): never => {
  throw error;
};
beforeAll(async () => {
  corner = openRedisNamespace();
  connection = connectRedis(corner.url, 'producer', raise);
  await until('Redis', () => connection.status === 'ready');
});
afterAll(async () => {
  connection.disconnect();
  await corner.close();
});

const sharing = (wake: (lane: string, jobId: string) => Promise<void>): AcquirePermit =>
  limitEndpointConcurrency({
    connection,
    prefix: corner.prefix,
    share: SHARE,
    slowShare: SLOW_SHARE,
    slowAfterMs: SLOW_AFTER_MS,
    holdMs: HOLD_MS,
    wake,
  });
/** An endpoint of its own, and which jobs were called for it. */
const endpoint = () => {
  const id = newUuid();
  const woken: string[] = [];
  const take = sharing(async (lane, jobId) => void woken.push(`${lane} ${jobId}`));
  return { woken, take: (jobId: string, lane: 'first' | 'retry' = 'first') => take(id, jobId, lane) };
};
const taken = (place: EndpointPermit) => {
  if (place.kind !== 'taken') throw new Error(`the place is ${place.kind}`);
  const release = (durationMs: number | null = 5) => place.release({ durationMs, comesBack: false });
  return { release, comeBack: () => place.release({ durationMs: null, comesBack: true }) };
};
const full = (place: EndpointPermit) => {
  if (place.kind !== 'full') throw new Error(`the place is ${place.kind}`);
  return place;
};
const takeAll = async (take: (jobId: string) => Promise<EndpointPermit>) =>
  Promise.all(Array.from({ length: SHARE }, async (_, n) => taken(await take(`in-flight-${n}`))));

test('a place that comes free is taken by the oldest that waits, each place by one', async () => {
  const { take, woken } = endpoint();
  const places = await takeAll(take);
  for (const jobId of ['c', 'a', 'b']) await full(await take(jobId)).suspend();
  expect(woken).toEqual([]);
  await places[0]?.release();
  expect(woken).toEqual(['first a']);
  await places[1]?.release();
  expect(woken).toEqual(['first a', 'first b']);
  // `c` has a place when it is called, or when it comes by itself.
  taken(await take('a'));
  taken(await take('b'));
  full(await take('c'));
});

test('a place that came free while a job lay down wakes it again', async () => {
  const { take, woken } = endpoint();
  const [place] = await takeAll(take);
  const waiting = full(await take('late', 'retry'));
  await place?.release();
  expect(woken).toEqual([]);
  await waiting.suspend();
  expect(woken).toEqual(['retry late']);
});

test('nobody is called in the place of a job that comes back at once', async () => {
  const { take, woken } = endpoint();
  const [place] = await takeAll(take);
  await full(await take('waiting')).suspend();
  await place?.comeBack();
  expect(woken).toEqual([]);
  taken(await take('in-flight-0'));
});

test('a job whose worker died takes its own place over', async () => {
  const { take } = endpoint();
  await takeAll(take);
  full(await take('another'));
  taken(await take('in-flight-2'));
});

test('whoever is served calls the others, for as many places as are free', async () => {
  const { take, woken } = endpoint();
  const places = await takeAll(take);
  for (const jobId of ['a', 'b', 'c', 'd', 'e']) await full(await take(jobId)).suspend();
  // As if the process had ended before it could call anybody.
  for (const place of places) await place.comeBack();
  expect(woken).toEqual([]);
  taken(await take('e'));
  expect(woken).toEqual(['first a', 'first b', 'first c']);
});

test('an endpoint that is slow leaves the first attempts, keeps two places, and gets four when it answers quickly again', async () => {
  const { take } = endpoint();
  await taken(await take('slow')).release(SLOW_AFTER_MS * 2);
  expect(await take('a')).toEqual({ kind: 'slow' });
  const places = [taken(await take('a', 'retry')), taken(await take('b', 'retry'))];
  full(await take('c', 'retry'));
  for (const place of places) await place.release(1);
  const again = await Promise.all(['d', 'e', 'f', 'g'].map(async (jobId) => taken(await take(jobId))));
  full(await take('h'));
  for (const place of again) await place.release();
});

test('one attempt that is open for too long makes its endpoint slow', async () => {
  const { take } = endpoint();
  taken(await take('hanging'));
  await until('the endpoint to be slow', async () => (await take('another')).kind === 'slow');
});

test('the more wait for an endpoint, the longer each sleeps when nobody calls it', async () => {
  const { take } = endpoint();
  await takeAll(take);
  const waits: number[] = [];
  for (let n = 0; n < 100; n += 1) {
    const place = full(await take(`waiting-${n}`));
    waits.push(place.waitMs);
    await place.suspend();
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
    producer = createProducer(connection, corner.prefix);
  });
  afterAll(async () => {
    await Promise.all(consumers.map((consumer) => consumer.close()));
    for (const redis of consumerConnections) redis.disconnect();
    await producer.close();
  });

  test('a burst to few endpoints keeps all of their places taken and never one more, and each job is done once', async () => {
    const take = sharing((lane, jobId) => producer.promote(DELIVERY_QUEUES[lane as 'first'], jobId));
    const accounts = [newUuid(), newUuid()];
    const inFlight = new Map<string, number>();
    let most = 0;
    const done: string[] = [];
    const handle = async ({ account_id: account }: DeliveryJob, { jobId }: { jobId: string }) => {
      const place = await take(account, jobId, 'first');
      if (place.kind === 'full') return { again: new Date(Date.now() + place.waitMs), onPutOff: place.suspend };
      if (place.kind === 'slow') throw new Error('the endpoint is not slow');
      const open = (inFlight.get(account) ?? 0) + 1;
      inFlight.set(account, open);
      most = Math.max(most, open);
      await new Promise((resolve) => setTimeout(resolve, 20)); // how long the receiver takes
      inFlight.set(account, (inFlight.get(account) ?? 0) - 1);
      done.push(jobId);
      await place.release({ durationMs: 20, comesBack: false });
      return undefined;
    };
    const jobs = Array.from({ length: 160 }, (_, n) => ({
      payload: { delivery_id: newUuid(), account_id: accounts[n % accounts.length] ?? '', attempt: 1 },
    }));
    await producer.enqueueAll(DELIVERY_QUEUES.first, jobs);
    const startedAt = performance.now();
    for (let n = 0; n < 2; n += 1) {
      const redis = connectRedis(corner.url, 'consumer', raise);
      consumerConnections.push(redis);
      const options = {
        connection: redis,
        prefix: corner.prefix,
        stopping: new AbortController().signal,
        onJobError: raise,
        onError: raise,
      };
      consumers.push(startConsumer({ ...DELIVERY_QUEUES.first, processConcurrency: 20 }, handle, options));
    }
    await until('all to be done', () => done.length >= jobs.length, 15_000);
    const seconds = (performance.now() - startedAt) / 1_000;
    process.stdout.write(`shares: 160 jobs of 20 ms to two endpoints took ${seconds.toFixed(2)} s, 0.4 s at best\n`);
    expect(most).toBe(SHARE);
    expect(new Set(done).size).toBe(jobs.length);
    expect(done).toHaveLength(jobs.length);
  }, 30_000);
});
