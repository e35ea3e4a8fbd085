import type { DueDelivery } from '@vat/domain';
import { connectRedis, createProducer, DELIVERY_QUEUES } from '@vat/queues';
import { until, type World } from '@vat/testkit';
import { Queue } from 'bullmq';
import { makeWorkerUtils } from 'graphile-worker';
import { raise } from '../open-world.js';

/** Jobs per call, so that no single call to Redis is long. */
const CHUNK = 1_000;

/** Enqueues the first attempts with the service's producer. */
export const enqueueOurs = async ({ settings }: World, deliveries: readonly DueDelivery[]): Promise<void> => {
  const connection = connectRedis(String(settings.REDIS_URL), 'producer', raise);
  const producer = createProducer(connection, String(settings.REDIS_PREFIX));
  await until('Redis', () => connection.status === 'ready');
  const jobs = deliveries.map(({ id, accountId, attempt }) => ({
    payload: { delivery_id: id, account_id: accountId, attempt },
  }));
  await producer.enqueueAll(DELIVERY_QUEUES.first, jobs);
  await producer.close();
  connection.disconnect();
};

/** Enqueues the same deliveries with plain BullMQ. */
export const enqueuePlainBullmq = async ({ settings }: World, deliveries: readonly DueDelivery[]): Promise<void> => {
  const connection = connectRedis(String(settings.REDIS_URL), 'consumer', raise);
  const queue = new Queue('plain-deliveries', {
    connection,
    prefix: String(settings.REDIS_PREFIX),
    defaultJobOptions: { attempts: 6, backoff: { type: 'exponential', delay: 30_000 }, removeOnComplete: true },
  });
  const jobs = deliveries.map(({ id }) => ({ name: 'deliver', data: { id }, opts: { jobId: id } }));
  for (let from = 0; from < jobs.length; from += CHUNK) await queue.addBulk(jobs.slice(from, from + CHUNK));
  await queue.close();
  connection.disconnect();
};

/** Enqueues every delivery in the database with graphile-worker. */
export const enqueueGraphile = async ({ settings, sql }: World): Promise<void> => {
  const tools = await makeWorkerUtils({ connectionString: String(settings.DATABASE_URL) });
  await tools.migrate();
  await tools.release();
  await sql(
    `SELECT count(*) FROM (SELECT graphile_worker.add_job('deliver', json_build_object('id', id), max_attempts := 6)
       FROM delivery) AS added`,
  );
};
