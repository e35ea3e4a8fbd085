import { newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import { settleQueue } from './job-catalogue.js';
import { type Consumer, type JobHandler, startConsumer } from './start-consumer.js';

type Job = Parameters<JobHandler<{ request_id: string }>>[0];
type Failure = { jobId: string; failures: number };

let namespace: RedisNamespace;
let connections: RedisConnection[];
let producer: Producer;
let consumer: Consumer;
let outcome: (job: Job) => ReturnType<JobHandler<Job>>;
let failed: Failure[];
const done: string[] = [];
/** When Redis refused to give the consumer a job. */
let refused: number[];
let aheadMs: number;
beforeEach(async () => {
  namespace = await openRedisNamespace();
  const [consuming, producing] = (['consumer', 'producer'] as const).map((role) =>
    connectRedis(namespace.url, role, () => undefined),
  ) as [RedisConnection, RedisConnection];
  connections = [consuming, producing];
  producer = createProducer(producing, namespace.prefix);
  failed = [];
  refused = [];
  aheadMs = 0;
  await until('Redis', () => producing.status === 'ready');
  const handle: JobHandler<Job> = async (job) => {
    const result = await outcome(job);
    if (result === undefined) done.push(job.request_id);
    return result;
  };
  consumer = startConsumer(settleQueue, handle, {
    connection: consuming,
    prefix: namespace.prefix,
    stopping: new AbortController().signal,
    onJobError: (_error, { jobId, failures }) => failed.push({ jobId, failures }),
    onError: () => refused.push(performance.now()),
    now: () => new Date(Date.now() + aheadMs),
  });
});
afterEach(async () => {
  await consumer.close();
  await producer.close();
  await namespace.close();
  for (const connection of connections) connection.disconnect();
  await until('the connections to end', () => connections.every(({ status }) => status === 'end'));
});

const enqueue = async (): Promise<string> => {
  const id = newUuid();
  await producer.enqueue({ definition: settleQueue, payload: { request_id: id } });
  return id;
};
/** Runs a job that succeeds. */
const succeed = async (): Promise<void> => {
  const id = await enqueue();
  await until('the job to be done', () => done.includes(id));
};
/** The milliseconds that a job waits, once it waits. */
const delayOf = (id: string): Promise<number> =>
  until('the job to wait', async () => {
    const [, producing] = connections;
    const isDelayed = await producing?.zscore(`${namespace.prefix}:${settleQueue.name}:delayed`, id);
    const delay = await producing?.hget(`${namespace.prefix}:${settleQueue.name}:${id}`, 'delay');
    return isDelayed ? Number(delay) : undefined;
  });
/** Runs a delayed job now, and returns how long it waits then. */
const runAgain = async (id: string): Promise<number> => {
  const before = failed.length;
  // On a slow machine it may be running already.
  await producer.promote(settleQueue, id).catch(() => undefined);
  await until('the job to fail again', () => failed.length > before);
  return delayOf(id);
};
const inSeconds = (ms: number) => Math.round(ms / 1_000);

test('a job that always fails waits twice as long each time while others succeed, up to five minutes', async () => {
  const failing = newUuid();
  outcome = async ({ request_id }) => {
    if (request_id === failing) throw new Error('always');
    return undefined;
  };
  await producer.enqueue({ definition: settleQueue, payload: { request_id: failing } });
  const waits = [await delayOf(failing)];
  for (let n = 2; n <= 11; n += 1) {
    await succeed();
    waits.push(await runAgain(failing));
  }
  expect(waits.map(inSeconds)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
  expect([...new Set(failed.map(({ failures }) => failures))]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});

test('while no job succeeds each is retried after a second, and a job that ran well begins again', async () => {
  let away = true;
  let again: Date | undefined;
  outcome = async () => {
    if (away) throw new Error('away');
    return again && { again };
  };
  const [one, other] = [await enqueue(), await enqueue()];
  expect([await delayOf(one), await delayOf(other)].map(inSeconds)).toEqual([1, 1]);
  expect([await runAgain(one), await runAgain(one), await runAgain(other)].map(inSeconds)).toEqual([1, 1, 1]);
  away = false;
  await succeed();
  away = true;
  expect(inSeconds(await runAgain(one))).toBe(2);
  away = false;
  again = new Date(Date.now() + 3_600_000);
  await producer.promote(settleQueue, one);
  await until('the job to wait for an hour', async () => (await delayOf(one)) > 3_000_000);
  away = true;
  expect(inSeconds(await runAgain(one))).toBe(1);
});

test.each([true, false])(
  'after the clock was set back a job whose failure is not its own is still retried after a second: %s',
  async (succeedsBefore) => {
    let away = false;
    outcome = async () => {
      if (away) throw new Error('away');
      return undefined;
    };
    aheadMs = 3_600_000;
    await succeed();
    aheadMs = 0;
    if (succeedsBefore) await succeed();
    away = true;
    const id = await enqueue();
    expect([await delayOf(id), await runAgain(id), await runAgain(id)].map(inSeconds)).toEqual([1, 1, 1]);
  },
);

test('after the clock was set back a job that always fails waits longer each time', async () => {
  const failing = newUuid();
  outcome = async ({ request_id }) => {
    if (request_id === failing) throw new Error('always');
    return undefined;
  };
  aheadMs = 3_600_000;
  await producer.enqueue({ definition: settleQueue, payload: { request_id: failing } });
  await delayOf(failing);
  aheadMs = 0;
  const waits: number[] = [];
  for (let n = 0; n < 2; n += 1) {
    await succeed();
    waits.push(await runAgain(failing));
  }
  expect(waits.map(inSeconds)).toEqual([2, 4]);
});

test('while Redis refuses to give a job, as when its memory is full, the consumer tries once a second', async () => {
  outcome = async () => undefined;
  const [, redis] = connections;
  const active = `${namespace.prefix}:${settleQueue.name}:active`;
  await redis?.set(active, 'not a list, so the script fails');
  const id = await enqueue();
  await until('two refusals', () => refused.length > 1);
  expect((refused[1] ?? 0) - (refused[0] ?? 0)).toBeGreaterThan(900);
  await redis?.del(active);
  await until('the job to be done', () => done.includes(id));
});
