// A program: the same job with BullMQ and got.
import { connectRedis } from '@vat/queues';
import { Worker } from 'bullmq';
import pg from 'pg';
import { postAndLog } from './post-and-log.js';

const { DATABASE_URL = '', REDIS_URL = '', REDIS_PREFIX = '', SENDER_LOOPS = '1', SENDER_LOGS } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 20 });
const send = postAndLog(pool, SENDER_LOGS === 'yes');
const connection = connectRedis(REDIS_URL, 'consumer', (error) => console.error(error));
const worker = new Worker<{ id: string }>('plain-deliveries', ({ data }) => send(data.id), {
  connection,
  prefix: REDIS_PREFIX,
  concurrency: Number(SENDER_LOOPS),
  removeOnComplete: { count: 0 },
});
worker.on('error', (error) => console.error(error));
worker.on('failed', (_job, error) => console.error(error));
process.once('SIGTERM', () => void worker.close().then(() => process.exit(0)));
process.send?.({});
