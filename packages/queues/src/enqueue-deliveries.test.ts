import { newUuid } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { createProducer, type Producer } from './create-producer.js';
import { enqueueDeliveries, enqueueDelivery } from './enqueue.js';
import { DELIVERY_QUEUES } from './job-catalogue.js';

let namespace: RedisNamespace;
let connection: RedisConnection;
let producer: Producer;
beforeAll(async () => {
  namespace = openRedisNamespace();
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
/** How many of the deliveries have a job in each queue; a queue has at most one job per id. */
const jobsOf = async (deliveries: ReturnType<typeof due>[]) => {
  const ids = deliveries.map(({ id, attempt }) => `${id}-${attempt}`);
  return {
    first: (await producer.present(DELIVERY_QUEUES.first, ids)).size,
    retry: (await producer.present(DELIVERY_QUEUES.retry, ids)).size,
  };
};

test('a first attempt that still has a job gets no second one; a lost one is enqueued among the retries', async () => {
  const [late, lost] = [due(1), due(1)];
  await enqueueDelivery(producer)(late);
  await enqueueDeliveries(producer)([late, lost]);
  expect(await jobsOf([late, lost])).toEqual({ first: 1, retry: 1 });
  expect(await producer.present(DELIVERY_QUEUES.first, [`${late.id}-1`, `${lost.id}-1`])).toEqual(
    new Set([`${late.id}-1`]),
  );
});

test('repeated sweeps leave each late delivery with one job', async () => {
  const deliveries = [due(1), due(2), due(6)];
  for (const delivery of deliveries) await enqueueDelivery(producer)(delivery);
  for (let n = 0; n < 3; n += 1) await enqueueDeliveries(producer)(deliveries);
  expect(await jobsOf(deliveries)).toEqual({ first: 1, retry: 2 });
});
