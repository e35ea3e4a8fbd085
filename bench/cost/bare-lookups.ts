// A program: the least that a lookup costs. A BullMQ job of a member state reads its request, posts its number to the upstream with
// got, and settles it after the job has ended; two jobs of each member state run at once. No slot, gate, turn, evidence or log.

import { Agent } from 'node:http';
import { MEMBER_STATES } from '@vat/domain';
import { connectRedis } from '@vat/queues';
import { Worker } from 'bullmq';
import got from 'got';
import pg from 'pg';
import { bareQueueOf, ENDS } from './bare-queue.js';
import { bareStatements } from './bare-statements.js';

const { DATABASE_URL = '', REDIS_URL = '', REDIS_PREFIX = '', VIES_URL = '' } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' });
const statements = await bareStatements();
const connection = connectRedis(REDIS_URL, 'consumer', (error) => console.error(error));
const client = got.extend({ agent: { http: new Agent({ keepAlive: true }) }, retry: { limit: 0 } });

/** `publish`: a caller waits for the end. */
type Lookup = { id: string; number: string; publish?: boolean };

const settle = async ({ id, publish }: Lookup): Promise<void> => {
  await pool.query(statements.settleCheck(id));
  if (publish) await connection.publish(`${REDIS_PREFIX}:${ENDS}`, id);
};
const lookUp = async (lookup: Lookup): Promise<void> => {
  const { id, number } = lookup;
  const { rowCount } = await pool.query(statements.beginLookup(id));
  if (rowCount !== 1) throw new Error(`request ${id} is not due`);
  const json = { countryCode: number.slice(0, 2), vatNumber: number.slice(2) };
  await client.post(`${VIES_URL}/check-vat-number`, { json }).json();
  settle(lookup).catch((error) => console.error(error));
};
const workers = MEMBER_STATES.map(
  (state) =>
    new Worker<Lookup>(bareQueueOf(state), ({ data }) => lookUp(data), {
      ...{ connection, prefix: REDIS_PREFIX, concurrency: 2 },
      ...{ removeOnComplete: { count: 0 }, removeOnFail: { count: 0 } },
    }),
);
for (const worker of workers) {
  worker.on('error', (error) => console.error(error));
  worker.on('failed', (_job, error) => console.error(error));
}
process.once('SIGTERM', () => void Promise.all(workers.map((worker) => worker.close())).then(() => process.exit(0)));
await Promise.all(workers.map((worker) => worker.waitUntilReady()));
process.send?.({});
