import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { DelayedError, type Job, Queue } from 'bullmq';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { SteadyWorker } from './steady-worker.js';

const LOCK_MS = 400;
const STALLED_CHECK_MS = 50;

let namespace: RedisNamespace;
let connection: RedisConnection;
beforeEach(async () => {
  namespace = await openRedisNamespace();
  connection = connectRedis(namespace.url, 'consumer', () => undefined);
});
afterEach(async () => {
  await namespace.close();
  connection.disconnect();
  await until('the connection to end', () => connection.status === 'end');
});

test('the lock of a job that runs again before its first run has ended is renewed', async () => {
  const events: string[] = [];
  /** The first run ends after the second one has begun. */
  class LateWorker extends SteadyWorker<object> {
    protected override async moveToActive(token: string): Promise<Job<object>> {
      const fetched = await super.moveToActive(token);
      if (events.length > 0 && fetched === undefined) await until('the second run', () => events.length > 1);
      return fetched;
    }
  }
  const run = async (job: Job<object>, token = ''): Promise<void> => {
    events.push(`run ${job.attemptsStarted}`);
    if (job.attemptsStarted === 1) {
      await job.moveToDelayed(Date.now(), token);
      throw new DelayedError();
    }
    const startedAt = performance.now();
    await until('five times the lock to have passed', () => performance.now() - startedAt > 5 * LOCK_MS);
    events.push('end');
  };
  const options = { connection, prefix: namespace.prefix };
  const queue = new Queue<object>('again', options);
  const worker = new LateWorker('again', run, {
    ...options,
    ...{ concurrency: 2, lockDuration: LOCK_MS, stalledInterval: STALLED_CHECK_MS, maxStalledCount: 1_000 },
  });
  worker.on('error', (error) => events.push(error.message));
  await queue.add('job', {});
  await until('the job to end', () => events.includes('end'));
  await worker.close();
  await queue.close();
  expect(events).toEqual(['run 1', 'run 2', 'end']);
});
