import type { EnrichmentSourceName } from '@vat/domain';
import { openRedisNamespace, type RedisNamespace, until } from '@vat/testkit';
import { connectRedis, type RedisConnection } from './connect-redis.js';
import { fleetPace } from './fleet-pace.js';

let namespace: RedisNamespace;
let processes: RedisConnection[];
const raise = (error: unknown): never => {
  throw error;
};
beforeAll(async () => {
  namespace = await openRedisNamespace();
  processes = [1, 2].map(() => connectRedis(namespace.url, 'producer', raise));
  await until('Redis', () => processes.every(({ status }) => status === 'ready'));
});
afterAll(async () => {
  for (const connection of processes) connection.disconnect();
  await namespace.close();
});

const GAP_MS = 60_000;
/** What the calls below wait at most. */
const FURTHEST_MS = 10 * GAP_MS;
type Limit = { source: EnrichmentSourceName; gapMs: number; maxWaitMs: number };
/** Reserves a call in the n-th process. */
const reserveIn = async (n: number, { source, ...limit }: Limit): Promise<number | null> => {
  const connection = processes[n % processes.length];
  return connection ? fleetPace(connection, namespace.prefix, FURTHEST_MS)(source, limit) : null;
};

test('calls of two processes are spaced by the gap, and one that would wait too long reserves nothing', async () => {
  const reserve = async (n: number, maxWaitMs: number): Promise<number | null> =>
    reserveIn(n, { source: 'gleif', gapMs: GAP_MS, maxWaitMs });
  const waits: (number | null)[] = [];
  for (const n of [0, 1, 2, 3]) waits.push(await reserve(n, FURTHEST_MS));
  expect(waits[0]).toBe(0);
  waits.forEach((wait, n) => {
    // Counted from the first reservation, which was some time ago.
    expect(wait).toBeLessThanOrEqual(n * GAP_MS);
    expect(wait).toBeGreaterThan((n - 1) * GAP_MS);
  });
  expect(await reserve(0, GAP_MS)).toBeNull();
  expect(await reserve(1, GAP_MS)).toBeNull();
  const next = await reserve(0, FURTHEST_MS);
  expect(next).toBeGreaterThan(3 * GAP_MS);
  expect(next).toBeLessThanOrEqual(4 * GAP_MS);
});

test('each source has a pace of its own, and concurrent reservations never share a start', async () => {
  const waits = await Promise.all(
    Array.from({ length: 20 }, (_, n) => reserveIn(n, { source: 'ro_anaf', gapMs: 1_000, maxWaitMs: 60_000 })),
  );
  const starts = waits.map(Number).toSorted((a, b) => a - b);
  starts.slice(1).forEach((start, n) => {
    // All were reserved within the time that Redis took for them.
    expect(start - (starts[n] ?? 0)).toBeGreaterThan(500);
  });
  expect(await reserveIn(0, { source: 'fi_prh', gapMs: 1_000, maxWaitMs: 0 })).toBe(0);
});

test('a start stored before the clock of Redis was set back by hours delays no call, and the calls after it are spaced', async () => {
  const limit = { source: 'cz_ares', gapMs: GAP_MS, maxWaitMs: 2 * GAP_MS } as const;
  await processes[0]?.set(`${namespace.prefix}:pace:cz_ares`, String(Date.now() + 7_200_000));
  expect(await reserveIn(0, limit)).toBe(0);
  expect(await reserveIn(1, limit)).toBeGreaterThan(0);
});

test('after the clock of Redis was set back by a minute, a source whose calls wait for seconds is called at once', async () => {
  const [connection] = processes;
  if (!connection) throw new Error('there is no process');
  await connection.set(`${namespace.prefix}:pace:gleif`, String(Date.now() + 60_000));
  const reserve = fleetPace(connection, namespace.prefix, 4_000);
  expect(await reserve('gleif', { gapMs: 1_000, maxWaitMs: 3_000 })).toBe(0);
  expect(await reserve('gleif', { gapMs: 1_000, maxWaitMs: 3_000 })).toBeGreaterThan(0);
});
