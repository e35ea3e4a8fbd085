import { findDueWatches, startRun } from '@vat/db';
import { MEMBER_STATES, RUN_LIMITS, startDueWatches } from '@vat/domain';
import { connectRedis, createProducer, enqueueOverdue } from '@vat/queues';
import { until } from '@vat/testkit';
import { insertWatches } from './insert-rows.js';
import { type Percentiles, percentiles } from './measuring.js';
import { connectBench, openWorld, raise } from './open-world.js';

export type WatchesFigures = {
  watches: number;
  /** The number of due watches. */
  due: number;
  /** Milliseconds of the statement that finds the due watches, and of the same statement without due watches. */
  find: Percentiles;
  find_none: Percentiles;
  /** Milliseconds to start a run: its statement and its job. */
  start_ms: number;
  /** Runs per second of one worker, from the lookup to the recorded result, with an upstream latency of 0 ms. */
  runs_per_s: number;
};

const FINDS = 50;
const HOUR_MS = 3_600_000;
const WITHIN_MS = 300_000;
/** The first runs of a worker use cold code and are not measured. */
const FROM = 0.2;

/** Measures finding, starting and recording the runs of `due` due watches among `watches`. */
export const measureWatches = async (watches: number, due: number): Promise<WatchesFigures> => {
  const world = await openWorld();
  const { db, close } = connectBench(world.settings.DATABASE_URL, { maxConnections: 4 });
  const redis = connectRedis(String(world.settings.REDIS_URL), 'consumer', () => undefined);
  const producer = createProducer(redis, world.name);
  try {
    await insertWatches(world, { count: watches, due });
    const findDue = findDueWatches(db)(MEMBER_STATES);
    const timeFinds = async (now: Date, expected: number): Promise<Percentiles> => {
      const times: number[] = [];
      for (let n = 0; n < FINDS; n += 1) {
        const startedAt = performance.now();
        const found = await findDue(now, RUN_LIMITS);
        times.push(performance.now() - startedAt);
        if (found.length !== expected) throw new Error(`${found.length} watches were found, not ${expected}`);
      }
      return percentiles(times);
    };
    const find = await timeFinds(new Date(), due);
    const findNone = await timeFinds(new Date(Date.now() - HOUR_MS), 0);

    const start = startDueWatches({
      findDue,
      startRun: startRun(db),
      enqueue: enqueueOverdue(producer),
      onEnqueueFailure: raise,
      publishChange: () => undefined,
      stopping: new AbortController().signal,
      now: () => new Date(),
    });
    const startedAt = performance.now();
    const { started } = await start();
    const startMs = (performance.now() - startedAt) / started;
    if (started !== due) throw new Error(`${started} runs were started, not ${due}`);

    await world.startWorker({ WORKER_QUEUES: 'checks' });
    const recorded = async (): Promise<number> => {
      const [row] = await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM "check"');
      return row?.n ?? 0;
    };
    const some = await until('the first runs', async () => (await recorded()) >= FROM * due && recorded(), WITHIN_MS);
    const from = performance.now();
    await until('every run', async () => (await recorded()) === due, WITHIN_MS);
    const runsPerSecond = ((due - some) * 1_000) / (performance.now() - from);
    return {
      watches,
      due,
      find,
      find_none: findNone,
      start_ms: Math.round(startMs * 100) / 100,
      runs_per_s: Math.round(runsPerSecond),
    };
  } finally {
    await producer.close();
    redis.disconnect();
    await close();
    await world.stop();
  }
};
