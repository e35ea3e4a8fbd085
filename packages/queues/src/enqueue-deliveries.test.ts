import { type DueDelivery, newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import { deliveriesWithoutJob, enqueueDelivery, enqueueLateDeliveries } from './enqueue.js';
import { DELIVERY_QUEUES } from './job-catalogue.js';

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

const due = (attempt: number) => ({
  id: newUuid(),
  accountId: newUuid(),
  attempt,
  dueAt: new Date(Date.now() - 9_000),
});
/** What the sweep does with overdue deliveries. */
const sweep = async (deliveries: DueDelivery[]): Promise<void> => {
  const lost = await deliveriesWithoutJob(producer)(deliveries);
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
