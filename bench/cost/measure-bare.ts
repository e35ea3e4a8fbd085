import { insertBatch, type Queryable, statementsOn } from '@vat/db';
import { type NewBatch, newUuid } from '@vat/domain';
import { connectRedis } from '@vat/queues';
import { startProcess, type TestServers, until, type World } from '@vat/testkit';
import { QueueEvents } from 'bullmq';
import pg from 'pg';
import { cpuOfMiddle } from '../cpu-usage.js';
import { runsTypeScript } from '../deliveries/open-receiver.js';
import { callPaced, type Pace, type Percentiles, percentiles, warmUp } from '../measuring.js';
import { BARE_QUEUE, openBareQueue } from './bare-queue.js';
import { type CpuCost, measureCpu, msEach, pick, WORKING } from './cpu-cost.js';

const WITHIN_MS = 300_000;

export const startBare = (world: World, file: string, settings: Record<string, string>) =>
  startProcess(`bench/cost/${file}`, { ...world.settings, ...runsTypeScript(), ...settings });

/** CPU of a BullMQ job and its statements, in the middle of a backlog of requests. */
export const measureBareJobs = async (
  servers: TestServers,
  world: World,
  { ids, work }: { ids: readonly string[]; work: 'check' | 'line' },
): Promise<CpuCost> => {
  const bare = openBareQueue(world);
  await bare.addAll(ids);
  const worker = await startBare(world, 'bare-worker.ts', { BARE_WORK: work });
  try {
    const pids = { worker: worker.pid, ...servers.pids };
    const middle = { what: 'the bare jobs', count: ids.length, withinMs: WITHIN_MS };
    const { used, done } = await cpuOfMiddle(pids, middle, async () => ids.length - (await bare.waiting()));
    await until('the rest', async () => (await bare.waiting()) === 0, WITHIN_MS);
    return pick(msEach(used, done), ...WORKING);
  } finally {
    await worker.stop();
    await bare.close();
  }
};

/** The time from adding a job to knowing its end, with plain BullMQ. */
export const measureRoundTrip = async (
  world: World,
  { perSecond, seconds, warmUpCalls }: Pace,
): Promise<Percentiles> => {
  const bare = openBareQueue(world);
  const connection = connectRedis(String(world.settings.REDIS_URL), 'consumer', (error) => console.error(error));
  const events = new QueueEvents(BARE_QUEUE, { connection, prefix: String(world.settings.REDIS_PREFIX) });
  const worker = await startBare(world, 'bare-worker.ts', { BARE_WORK: 'nothing' });
  try {
    await events.waitUntilReady();
    const roundTrip = async (): Promise<number> => {
      const sentAt = performance.now();
      const job = await bare.queue.add('check', { id: newUuid() });
      await job.waitUntilFinished(events, WITHIN_MS);
      return performance.now() - sentAt;
    };
    await warmUp(warmUpCalls, roundTrip);
    return percentiles(await callPaced(perSecond, perSecond * seconds, roundTrip));
  } finally {
    await worker.stop();
    await events.close();
    connection.disconnect();
    await bare.close();
  }
};

/** The service's statements on one connection of `pg`. */
const onConnection = (client: pg.Client): Queryable => {
  const db = {
    ...statementsOn(client),
    $transaction: async (work: (tx: unknown) => Promise<unknown>) => {
      await client.query('BEGIN');
      const result = await work(db);
      await client.query('COMMIT');
      return result;
    },
  };
  return db as unknown as Queryable;
};

/** CPU of the statements that write a line of a batch, on one connection of this process. The first batch runs cold code. */
export const measureBareInsert = async (
  servers: TestServers,
  world: World,
  batches: readonly NewBatch[],
): Promise<CpuCost> => {
  const client = new pg.Client({ connectionString: String(world.settings.DATABASE_URL), options: '-c timezone=UTC' });
  await client.connect();
  try {
    const insert = insertBatch(onConnection(client) as Parameters<typeof insertBatch>[0]);
    const [first, ...rest] = batches;
    if (!first) throw new Error('there is no batch');
    await insert(first);
    const lines = rest.length * first.counts.lines;
    const cost = await measureCpu({ api: process.pid, ...servers.pids }, lines, async () => {
      for (const batch of rest) await insert(batch);
    });
    return pick(cost, 'api', 'postgres', 'redis');
  } finally {
    await client.end();
  }
};
