// A program: a BullMQ job and its statements over `pg`, without lookup, slot, registers and logs. BARE_WORK is what a job does:
// `check` (reads its request and settles it), `line` (the same for a line of a batch) or `nothing`.
import { connectRedis } from '@vat/queues';
import { Worker } from 'bullmq';
import pg from 'pg';
import { BARE_QUEUE } from './bare-queue.js';
import { bareStatements } from './bare-statements.js';

const {
  DATABASE_URL = '',
  REDIS_URL = '',
  REDIS_PREFIX = '',
  BARE_WORK = 'check',
  BARE_CONCURRENCY = '56',
} = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' });
const statements = await bareStatements();
const settle = BARE_WORK === 'line' ? statements.settleLine : statements.settleCheck;

const work = async (id: string): Promise<void> => {
  if (BARE_WORK === 'nothing') return;
  const { rowCount } = await pool.query(statements.beginLookup(id));
  if (rowCount !== 1) throw new Error(`request ${id} is not due`);
  await pool.query(settle(id));
};
const worker = new Worker<{ id: string }>(BARE_QUEUE, ({ data }) => work(data.id), {
  connection: connectRedis(REDIS_URL, 'consumer', (error) => console.error(error)),
  prefix: REDIS_PREFIX,
  concurrency: Number(BARE_CONCURRENCY),
});
worker.on('error', (error) => console.error(error));
worker.on('failed', (_job, error) => console.error(error));
process.once('SIGTERM', () => void worker.close().then(() => process.exit(0)));
await worker.waitUntilReady();
process.send?.({});
