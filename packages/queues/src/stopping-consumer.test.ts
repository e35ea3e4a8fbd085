import { newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { Cluster, type Redis } from 'ioredis';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import { upstreamQueue } from './job-catalogue.js';
import { startConsumer } from './start-consumer.js';
import { turnOf } from './turns.js';

/** A place of the queue may be idle for this long when the process that used it stops. */
const IDLE_MS = 1_000;

const QUEUE = upstreamQueue('DE');
/** `active`: how many jobs had been fetched when this one was started. */
type Job = { id: string; startedAt: number; active: Promise<number>; end: () => void };

let namespace: RedisNamespace;
let connection: RedisConnection;
let producerConnection: RedisConnection;
let producer: Producer;
/** How often a process began to wait for a job, since the last one was started. */
let waits = 0;
const closers: (() => Promise<unknown>)[] = [];
beforeEach(async () => {
  namespace = await openRedisNamespace();
  connection = connectRedis(namespace.url, 'consumer', () => undefined);
  producerConnection = connectRedis(namespace.url, 'producer', () => undefined);
  producer = createProducer(producerConnection, namespace.prefix);
  await until('Redis', () => producerConnection.status === 'ready');
  await producer.assertGlobalConcurrency(QUEUE);
  if (connection instanceof Cluster) throw new Error('this test observes one Redis, not a cluster');
  countWaits(connection);
});
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await producer.close();
  await namespace.close();
  connection.disconnect();
  producerConnection.disconnect();
  await until('the connections to end', () => [connection, producerConnection].every(({ status }) => status === 'end'));
});

/** Counts the commands with which workers on this connection begin to wait; each has a copy of the connection for that. */
const countWaits = (redis: Redis) => {
  const duplicate = redis.duplicate.bind(redis);
  redis.duplicate = (options) => {
    const copy = duplicate(options);
    const send = copy.sendCommand.bind(copy);
    copy.sendCommand = (command, stream) => {
      if (command.name === 'bzpopmin') waits += 1;
      return send(command, stream);
    };
    return copy;
  };
};

/** A process that serves the queue. Its jobs end when the test ends them, with what `endsWith` returns then. */
const startProcess = (concurrency: number, endsWith?: { again: Date } | { pauseQueueMs: number | null }) => {
  const running: Job[] = [];
  let ending = false;
  waits = 0;
  const consumer = startConsumer(
    QUEUE,
    async ({ request_id: id }) => {
      // What woke the process just before it was closed can make it start one more job.
      if (ending) return endsWith;
      await new Promise<void>((end) =>
        running.push({ id, startedAt: performance.now(), active: connection.llen(activeKey()), end }),
      );
      return endsWith;
    },
    {
      connection,
      prefix: namespace.prefix,
      stopping: new AbortController().signal,
      onJobError: (error) => {
        throw error;
      },
      onError: () => undefined,
    },
  );
  consumer.setConcurrency(concurrency);
  const endAll = () => {
    ending = true;
    for (const { end } of running) end();
  };
  closers.push(() => {
    const closed = consumer.close();
    endAll();
    return closed;
  });
  return { consumer, running };
};

const enqueueBacklog = (jobs: number) =>
  producer.enqueueAll(
    QUEUE,
    Array.from({ length: jobs }, () => ({ payload: { request_id: newUuid(), turn: turnOf('a', 'interactive') } })),
  );

/** Two processes with a job each, and a backlog. `share`: how many jobs the one that stays may run at once. */
const startTwo = async (share: number, endsWith?: Parameters<typeof startProcess>[1]) => {
  const stopping = startProcess(1, endsWith);
  await enqueueBacklog(1);
  await until('a job in the first', () => stopping.running.length === 1);
  const staying = startProcess(share);
  await enqueueBacklog(1);
  await until('a job in the second', () => staying.running.length === 1);
  await enqueueBacklog(5);
  return { stopping, staying };
};
type Two = Awaited<ReturnType<typeof startTwo>>;

/** Ends the first process's job. Returns the milliseconds until the other process starts its second one. */
const timeUntilTaken = async ({ stopping, staying }: Two): Promise<number> => {
  const endedAt = performance.now();
  stopping.running[0]?.end();
  const next = await until('the next job', () => staying.running[1]);
  return next.startedAt - endedAt;
};

const activeKey = () => `${namespace.prefix}:${QUEUE.name}:active`;
const markerKey = () => `${namespace.prefix}:${QUEUE.name}:marker`;
/** Waits until the process that was started last has found the queue full and waits for a place. */
const untilItWaits = () => until('it to wait', async () => waits > 0 && (await connection.exists(markerKey())) === 0);

test('a process without jobs starts the first before it fetches a second, and then runs both at once', async () => {
  await enqueueBacklog(2);
  const { running } = startProcess(2);
  await until('both jobs', () => running.length === 2);
  expect(await running[0]?.active).toBe(1);
  for (const { end } of running) end();
  await until('both to end', async () => (await connection.llen(activeKey())) === 0);
  await enqueueBacklog(2);
  await until('two more', () => running.length === 4);
  expect(await running[2]?.active).toBe(1);
});

test.each([
  ['is done', undefined],
  ['runs again later', { again: new Date(Date.now() + 3_600_000) }],
] as const)(
  'the place of a process that stops is taken at once by one that waits for a place, when its job %s',
  async (_title, endsWith) => {
    const two = await startTwo(2, endsWith);
    await untilItWaits();
    void two.stopping.consumer.close();
    expect(await timeUntilTaken(two)).toBeLessThan(IDLE_MS);
  },
);

test('a process whose share grows takes another job at once, also while its first one is running', async () => {
  const two = await startTwo(1);
  void two.stopping.consumer.close();
  const startedAt = performance.now();
  two.stopping.running[0]?.end();
  two.staying.consumer.setConcurrency(2);
  const next = await until('the next job', () => two.staying.running[1]);
  expect(next.startedAt - startedAt).toBeLessThan(IDLE_MS);
});

test('a place that a process has no share of any more is taken at once by another', async () => {
  const first = startProcess(2);
  await enqueueBacklog(2);
  await until('two jobs in the first', () => first.running.length === 2);
  const late = startProcess(1);
  await enqueueBacklog(5);
  await untilItWaits();
  first.consumer.setConcurrency(1);
  const endedAt = performance.now();
  first.running[0]?.end();
  const next = await until('a job in the second', () => late.running[0]);
  expect(next.startedAt - endedAt).toBeLessThan(IDLE_MS);
});

test.each([
  ['when the pause ends', 100],
  ['at once when it has ended already', null],
])(
  'a job that paused its queue runs again %s, although the process waits for another job meanwhile',
  async (_title, ms) => {
    const { running } = startProcess(2, { pauseQueueMs: ms });
    await enqueueBacklog(1);
    await until('the job', () => running.length === 1);
    await untilItWaits();
    const pausedAt = performance.now();
    running[0]?.end();
    const again = await until('the job to run again', () => running[1]);
    expect(again.startedAt - pausedAt).toBeLessThan(IDLE_MS);
  },
);
