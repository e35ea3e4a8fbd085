// A program: the job of `post-and-log.ts` in SENDER_LOOPS loops at a time, with the queue that SENDER names. Each queue is
// imported only where it is used, so that it costs the others nothing.
import pg from 'pg';
import { postAndLog } from './post-and-log.js';

const { SENDER = 'loop', DATABASE_URL = '', REDIS_URL = '', REDIS_PREFIX = '' } = process.env;
const concurrency = Number(process.env.SENDER_LOOPS ?? 1);
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
const send = postAndLog(pool);

/** Starts each kind of sender. Returns what stops it. */
const START: Record<string, () => Promise<() => Promise<unknown>>> = {
  bullmq: async () => {
    const [{ connectRedis }, { Worker }] = [await import('@vat/queues'), await import('bullmq')];
    const connection = connectRedis(REDIS_URL, 'consumer', (error) => console.error(error));
    const finished = { removeOnComplete: { count: 0 } };
    const options = { connection, prefix: REDIS_PREFIX, concurrency, ...finished };
    const worker = new Worker<{ id: string }>('plain-deliveries', ({ data }) => send(data.id), options);
    worker.on('error', (error) => console.error(error));
    worker.on('failed', (_job, error) => console.error(error));
    return () => worker.close();
  },
  graphile: async () => {
    const { Logger, run } = await import('graphile-worker');
    const logger = new Logger(() => (level, message) => {
      if (level === 'error') console.error(message);
    });
    const taskList = { deliver: (payload: unknown) => send((payload as { id: string }).id) };
    const runner = await run({ pgPool: pool, concurrency, noHandleSignals: true, logger, taskList });
    return () => runner.stop();
  },
  // Without a queue. It ends when it is stopped, so that its connections stay open and the CPU time of their backends is counted.
  loop: async () => {
    const { rows } = await pool.query<{ id: string }>(`SELECT id FROM delivery WHERE state = 'pending' ORDER BY id`);
    const loop = async (): Promise<void> => {
      for (let next = rows.pop(); next; next = rows.pop()) await send(next.id);
    };
    void Promise.all(Array.from({ length: concurrency }, loop));
    return async () => undefined;
  },
};

const stop = await START[SENDER]?.();
process.once('SIGTERM', () => void stop?.().then(() => process.exit(0)));
process.send?.({});
