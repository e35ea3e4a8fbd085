import {
  balancedLedger,
  callChecks,
  faultSize,
  numberOf,
  openWorldRedis,
  readLedger,
  startWorld,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';

let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  world = await startWorld({
    workers: 3,
    settings: {
      UPSTREAM_WINDOW: '500ms',
      UPSTREAM_ATTEMPT_TIMEOUT: '5s',
      BACKGROUND_GIVE_UP_AFTER: '10m',
      SWEEP_EVERY: '500ms',
      LOG_LEVEL: 'warn',
    },
  });
  redis = openWorldRedis(world);
}, 60_000);
afterAll(async () => {
  redis?.close();
  await world?.stop();
}, 60_000);
beforeEach(() => world.vies.reset());

let numbers = 0;
type State = Parameters<typeof numberOf>[0];
const callMany = (state: State, count: number) =>
  callChecks(
    world,
    Array.from({ length: count }, () => {
      numbers += 1;
      return numberOf(state, numbers);
    }),
  );

const noneOpen = async () => (await readLedger(world)).open === 0;
const statsOf = async (state: State) => (await world.vies.stats()).states[state];
const inFlight = async (state: State) => (await statsOf(state))?.in_flight ?? 0;

/** The law: never more than two, everything ended once, told once, charged once. */
const expectLawful = async (state: State) => {
  expect((await statsOf(state))?.max_in_flight).toBeLessThanOrEqual(2);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject(balancedLedger(ledger));
};

import { Redis } from 'ioredis';
test('probe', async () => {
  for (let r = 0; r < 14; r += 1) {
  await world.vies.state('IT', { latency_ms: 100 });
  const calls = callMany('IT', 30);
  for (let flushes = 0; flushes < 3; flushes += 1) {
    await until('both slots to be in use', async () => (await inFlight('IT')) === 2);
    await until('something to lose', async () => (await redis.flush()) > 0);
  }
  const answers = await calls;
  process.stdout.write(r + ' ' + JSON.stringify([...new Set(answers.map((x) => x.status))]) + '\n');
  try { await until('every request to end', noneOpen, 18_000); } catch (e) {
    const rows = await world.sql('SELECT id, state, due_at, now() as now, created_at, attempts, answer IS NOT NULL AS answered, asking_since, accepted_at FROM request WHERE state IN (\'waiting\', \'pending\')');
    process.stdout.write(JSON.stringify(rows.slice(0, 2)) + rows.length + '\n');
    const c = new Redis(world.settings.REDIS_URL ?? '');
    for (const k of await redis.keys()) {
      if (!/IT|settle|primed|priming|maintenance/.test(k)) continue;
      const t = await c.type(k);
      const v = t === 'hash' ? await c.hgetall(k) : t === 'list' ? await c.lrange(k, 0, -1) : t === 'zset' ? await c.zrange(k, 0, -1, 'WITHSCORES') : t === 'string' ? await c.get(k) : t;
      process.stdout.write(k + ' ' + JSON.stringify(v).slice(0, 400) + '\n');
    }
    c.disconnect();
    process.stdout.write(world.workers.flatMap((w) => w.lines()).map((l) => l.slice(0, 300)).slice(-12).join('\n') + '\n');
    throw e;
  }
  }
}, 300_000);
