import { type DueDelivery, newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { Queue, Worker } from 'bullmq';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import {
  deliveriesWithoutJob,
  enqueueDelivery,
  enqueueLateDeliveries,
  enqueueLostStamps,
  enqueueMails,
  enqueueOverdue,
  enqueueStamp,
  enqueueSweptDispatches,
  requestsWithoutJob,
} from './enqueue.js';
import { batchesQueue, DELIVERY_QUEUES, mailQueue, settleQueue, upstreamQueue } from './job-catalogue.js';

const QUEUE = upstreamQueue('DE');

let namespace: RedisNamespace;
let connection: RedisConnection;
let producer: Producer;
beforeAll(async () => {
  namespace = await openRedisNamespace();
  connection = connectRedis(namespace.url, 'producer', (error) => {
    throw error;
  });
  producer = createProducer(connection, namespace.prefix);
  await until('Redis', () => connection.status === 'ready');
});
afterAll(async () => {
  await producer.close();
  connection.disconnect();
  await namespace.close();
});
beforeEach(() => namespace.redis.flush());

const newIds = (count: number) => Array.from({ length: count }, () => newUuid());
const enqueue = (ids: string[], dueAt?: Date) =>
  producer.enqueueAll(
    QUEUE,
    ids.map((id) => ({ payload: { request_id: id }, ...(dueAt ? { dueAt } : {}) })),
  );

test('of thousands of ids those without a job are returned, whether the jobs wait, are delayed or run', async () => {
  const [waiting, delayed, lost] = [newIds(1_100), newIds(1_100), newIds(7)];
  await enqueue(waiting);
  await enqueue(delayed, new Date(Date.now() + 60_000));
  const running = newUuid();
  await producer.enqueue({ definition: settleQueue, payload: { request_id: running } });
  const queue = new Queue(settleQueue.name, { connection, prefix: namespace.prefix });
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const blocking = connectRedis(namespace.url, 'consumer', () => undefined);
  const worker = new Worker(settleQueue.name, () => ended, { connection: blocking, prefix: namespace.prefix });
  try {
    await until('the job to run', async () => (await queue.getActiveCount()) === 1);
    expect(await producer.withoutJob(settleQueue, [running, ...lost])).toEqual(lost);
    expect(await producer.withoutJob(QUEUE, [...waiting, ...lost, ...delayed])).toEqual(lost);
    expect(await producer.withoutJob(QUEUE, [])).toEqual([]);
  } finally {
    end();
    await worker.close();
    await queue.close();
    blocking.disconnect();
    await until('the connection to end', () => blocking.status === 'end');
  }
});

test.each(['completed', 'failed'] as const)(
  'a %s job that was not removed does not hide that the request has none, nor the new one',
  async (state) => {
    const id = newUuid();
    const queue = new Queue(QUEUE.name, { connection, prefix: namespace.prefix });
    await queue.add('job', { request_id: id }, { jobId: id });
    const blocking = connectRedis(namespace.url, 'consumer', () => undefined);
    const fail = () => {
      throw new Error('as by a worker of an older release');
    };
    const worker = new Worker(QUEUE.name, async () => (state === 'failed' ? fail() : undefined), {
      connection: blocking,
      prefix: namespace.prefix,
    });
    await until('its end', async () => (await queue.getJobState(id)) === state);
    await worker.close();
    blocking.disconnect();

    const request = {
      id,
      accountId: newUuid(),
      test: false,
      origin: 'direct',
      memberState: 'DE',
      pending: true,
      answered: false,
    } as const;
    await enqueueOverdue(producer)([{ ...request, dueAt: new Date() }]);
    expect(await queue.getJobState(id)).toBe(state);
    expect(await requestsWithoutJob(producer)([{ ...request, ids: [id] }], { everything: false })).toEqual([id]);
    await enqueueOverdue(producer)([{ ...request, dueAt: new Date() }]);
    expect(await queue.getJobState(id)).toBe('prioritized');
    expect(await requestsWithoutJob(producer)([{ ...request, ids: [id] }], { everything: false })).toEqual([]);
    await queue.close();
    await until('the connection to end', () => blocking.status === 'end');
  },
);

/** A delivery that was due nine seconds ago. */
const due = (attempt: number) => ({
  id: newUuid(),
  accountId: newUuid(),
  attempt,
  dueAt: new Date(Date.now() - 9_000),
});
/** What the sweep does with overdue deliveries. */
const sweep = async (deliveries: DueDelivery[]): Promise<void> => {
  const lost = await deliveriesWithoutJob(producer)(deliveries, { everything: false });
  await enqueueLateDeliveries(producer)(deliveries.filter(({ id }) => lost.includes(id)));
};
/** How many of the deliveries have a job in each queue; a queue has at most one job per id. */
const jobsOf = async (deliveries: ReturnType<typeof due>[]) => {
  const ids = deliveries.map(({ id, attempt }) => `${id}-${attempt}`);
  return {
    first: ids.length - (await producer.withoutJob(DELIVERY_QUEUES.first, ids)).length,
    retry: ids.length - (await producer.withoutJob(DELIVERY_QUEUES.retry, ids)).length,
  };
};

test('a first attempt that still has a job gets no second one; a lost one is enqueued among the retries', async () => {
  const [late, lost] = [due(1), due(1)];
  await enqueueDelivery(producer)(late);
  await sweep([late, lost]);
  expect(await jobsOf([late, lost])).toEqual({ first: 1, retry: 1 });
  expect(await producer.withoutJob(DELIVERY_QUEUES.first, [`${late.id}-1`, `${lost.id}-1`])).toEqual([`${lost.id}-1`]);
});

test('repeated sweeps leave each late delivery with one job', async () => {
  const deliveries = [due(1), due(2), due(6)];
  for (const delivery of deliveries) await enqueueDelivery(producer)(delivery);
  for (let n = 0; n < 3; n += 1) await sweep(deliveries);
  expect(await jobsOf(deliveries)).toEqual({ first: 1, retry: 2 });
});

test('an overdue job that a clock has put off for longer than any waits is none; one that is not overdue stays', async () => {
  const [soon, later] = [newUuid(), newUuid()];
  await enqueue([soon], new Date(Date.now() + 300_000));
  await enqueue([later], new Date(Date.now() + 3_600_000));
  expect(await producer.withoutJob(QUEUE, [soon, later], { overdue: false })).toEqual([]);
  expect(await producer.withoutJob(QUEUE, [soon, later], { overdue: true })).toEqual([later]);
  await enqueue([later]);
  expect(await producer.withoutJob(QUEUE, [soon, later], { overdue: true })).toEqual([]);
});

test('a time-stamp that a clock has put off is enqueued again, once it is overdue', async () => {
  const stamp = { subjectId: newUuid(), dueAt: new Date(Date.now() + 3_600_000) };
  await enqueueStamp(producer)(stamp);
  expect(await enqueueLostStamps(producer)([stamp], { everything: true })).toBe(0);
  const overdue = { ...stamp, dueAt: new Date() };
  expect(await enqueueLostStamps(producer)([overdue], { everything: false })).toBe(1);
  expect(await enqueueLostStamps(producer)([overdue], { everything: false })).toBe(0);
});

test('mails that are due and dispatches of a sweep that a clock has put off are enqueued again', async () => {
  const mailId = newUuid();
  const putOff = new Date(Date.now() + 3_600_000);
  await producer.enqueue({ definition: mailQueue, payload: { task: 'send', mail_id: mailId }, dueAt: putOff });
  await producer.enqueue({ definition: batchesQueue, payload: { lane: 'DE', at: 0 }, dueAt: putOff });
  await enqueueMails(producer)([mailId]);
  await enqueueSweptDispatches(producer)(['DE']);
  for (const { name } of [mailQueue, batchesQueue]) {
    const queue = new Queue(name, { connection, prefix: namespace.prefix });
    expect([await queue.getDelayedCount(), await queue.getWaitingCount()]).toEqual([0, 1]);
    await queue.close();
  }
});
