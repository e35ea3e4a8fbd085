import { sendTestEvent } from '@vat/db';
import { newUuid, publicId } from '@vat/domain';
import { connectRedis, createProducer, enqueueDelivery } from '@vat/queues';
import { until } from '@vat/testkit';
import { callPaced, clockMs, type Percentiles, percentiles } from '../measuring.js';
import { connectBench, raise } from '../open-world.js';
import { exampleBody } from './example-body.js';
import type { Stage } from './measure-rate.js';

export type FirstByteFigures = {
  events_per_s: number;
  /** From the commit of event and delivery, as seen by the writer, until the receiver has the headers; in ms. */
  commit_to_first_byte: Percentiles;
  /** The part of that time until the writer has enqueued the job. */
  commit_to_enqueued: Percentiles;
  worst_ms: number;
};

/** Higher than the number of events of a run, so that the limit of test events does not apply. */
const NO_LIMIT = 1_000_000_000;

/** Warm-up for connections and compiled code, which is not measured. */
const WARM_UP_S = 5;

/**
 * Inserts test events at a fixed rate, enqueues each with the service's producer, and measures when it reaches its receiver
 * through one worker.
 */
export const measureFirstByte = async (
  { world, receiver, accounts }: Stage,
  { eventsPerSecond, seconds }: { eventsPerSecond: number; seconds: number },
): Promise<FirstByteFigures> => {
  const { db, close } = connectBench(world.settings.DATABASE_URL, { maxConnections: 10, queryTimeoutMs: 10_000 });
  const redis = connectRedis(String(world.settings.REDIS_URL), 'producer', raise);
  const producer = createProducer(redis, String(world.settings.REDIS_PREFIX));
  const [write, enqueue] = [sendTestEvent(db, NO_LIMIT), enqueueDelivery(producer)];
  await until('Redis', () => redis.status === 'ready');
  await world.sql('TRUNCATE delivery_attempt, delivery, event');
  await receiver.forget();
  const worker = await world.startWorker({ WORKER_QUEUES: 'webhooks' });

  const sendEvent = async (n: number) => {
    const [deliveryId, now] = [newUuid(), new Date()];
    const accountId = accounts[n % accounts.length] ?? '';
    const event = {
      id: newUuid(),
      type: 'check.completed' as const,
      body: exampleBody(publicId('request', newUuid())),
    };
    await write({ accountId, test: false, event, deliveryId, now });
    const committedAt = clockMs();
    await enqueue({ id: deliveryId, accountId, attempt: 1, dueAt: now });
    return { delivery: publicId('delivery', deliveryId), committedAt, enqueuedMs: clockMs() - committedAt };
  };
  try {
    const events = await callPaced(eventsPerSecond, eventsPerSecond * (WARM_UP_S + seconds), sendEvent);
    await until('every event to arrive', async () => (await receiver.count()) >= events.length, 60_000);
    const arrived = new Map(await receiver.arrivals());
    const measured = events.slice(eventsPerSecond * WARM_UP_S);
    const times = measured.map(({ delivery, committedAt }) => (arrived.get(delivery) ?? Number.NaN) - committedAt);
    if (times.some(Number.isNaN)) throw new Error('an event never arrived');
    return {
      events_per_s: eventsPerSecond,
      commit_to_first_byte: percentiles(times),
      commit_to_enqueued: percentiles(measured.map(({ enqueuedMs }) => enqueuedMs)),
      worst_ms: Math.round(Math.max(...times)),
    };
  } finally {
    await worker.stop();
    await producer.close();
    redis.disconnect();
    await close();
  }
};
