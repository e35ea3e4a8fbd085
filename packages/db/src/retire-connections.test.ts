import { type ClonedDatabase, cloneDatabase } from '@vat/testkit';
import pg from 'pg';
import { retireConnections } from './retire-connections.js';

const DAY_MS = 86_400_000;
const CONNECTIONS = 3;

let cloned: ClonedDatabase;
let pool: pg.Pool;
beforeAll(async () => {
  cloned = await cloneDatabase();
  pool = new pg.Pool({ connectionString: cloned.url, max: CONNECTIONS });
  // One that was replaced may still be closing when the database is dropped.
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool?.end();
  await cloned?.drop();
});

/** Uses all connections at once, and returns their backends. */
const useAll = async (): Promise<number[]> => {
  const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => pool.connect()));
  const backendOf = async (client: pg.PoolClient): Promise<number> =>
    (await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid ?? 0;
  const backends = await Promise.all(clients.map(backendOf));
  for (const client of clients) client.release();
  return backends;
};

test('connections that have been open for a day are replaced, one a minute', async () => {
  const clock = { ms: 0 };
  retireConnections(pool, () => clock.ms);
  const first = new Set(await useAll());
  const left = async () => (await useAll()).filter((backend) => first.has(backend)).length;
  clock.ms += DAY_MS - 1;
  expect([await left(), await left()]).toEqual([3, 3]);
  clock.ms += 1;
  expect([await left(), await left(), await left()]).toEqual([3, 2, 2]);
  clock.ms += 60_000;
  expect([await left(), await left(), await left()]).toEqual([2, 1, 1]);
  clock.ms += 60_000;
  expect([await left(), await left()]).toEqual([1, 0]);
});
