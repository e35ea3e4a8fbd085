import { uuidOf } from '@vat/domain';
import {
  balancedLedger,
  type ClusterSet,
  callChecks,
  faultSize,
  NUMBERED_STATES,
  numberOf,
  type RedisSet,
  readLedger,
  type SentinelSet,
  startClusterSet,
  startSentinelSet,
  startTlsRedis,
  startWorld,
  until,
  type World,
} from '@vat/testkit';
import { CLUSTER_SETTINGS } from './fleet.fixture.js';

/** What every caller is promised while Redis is away. */
const ANSWERED_WITHIN_MS = 2_000;
const JOBS = faultSize(48, 1_000);
const STATES = NUMBERED_STATES.slice(0, faultSize(6, NUMBERED_STATES.length));

/** Calls are soon answered 202. */
const MANY_PENDING = { UPSTREAM_WINDOW: '100ms' };

let sentinel: SentinelSet;
let cluster: ClusterSet;
let tls: RedisSet;
const worlds: Partial<Record<'sentinel' | 'cluster' | 'tls', World>> = {};
beforeAll(async () => {
  [sentinel, cluster, tls] = await Promise.all([startSentinelSet(), startClusterSet(), startTlsRedis()]);
}, 60_000);
afterEach(async () => {
  await Promise.all(Object.values(worlds).map((world) => world.stop()));
  for (const kind of Object.keys(worlds)) delete worlds[kind as keyof typeof worlds];
}, 60_000);
afterAll(() => Promise.all([sentinel?.stop(), cluster?.stop(), tls?.stop()]), 60_000);

const start = async (kind: keyof typeof worlds, settings: Record<string, string>): Promise<World> => {
  const world = await startWorld({ workers: 1, settings: { ...CLUSTER_SETTINGS, ...settings } });
  worlds[kind] = world;
  return world;
};

let numbers = 0;
const newNumbers = (count: number) =>
  Array.from({ length: count }, () => {
    numbers += 1;
    return numberOf(STATES[numbers % STATES.length] ?? 'DE', numbers);
  });
const noneOpen = (world: World) => async () => (await readLedger(world)).open === 0;
const redisState = async (world: World): Promise<unknown> =>
  ((await (await fetch(`${world.baseUrl()}/readyz`)).json()) as { redis: unknown }).redis;

const isReplica = async ({ redis }: { redis: { info: (section: string) => Promise<string> } }): Promise<boolean> =>
  /master_link_status:up/.test(await redis.info('replication').catch(() => ''));

type Answers = Awaited<ReturnType<typeof callChecks>>;

/** Calls in rounds, so that the number of calls at once, and what they meet, do not depend on their total. */
const callInRounds = async (world: World, rounds: number, atOnce: number): Promise<Answers> => {
  const answers: Answers = [];
  for (let round = 0; round < rounds; round += 1) {
    // An account may have 200 pending requests.
    const account = uuidOf('account', (await world.newAccount()).account_id) ?? '';
    answers.push(...(await callChecks(world, newNumbers(atOnce), account)));
  }
  return answers;
};

/** Accepts many checks without workers, starts these, and calls `disturb` during their first lookups. Each check must end, once. */
const expectNoneLost = async (world: World, what: string, disturb: () => Promise<void>) => {
  await until('Redis', async () => (await redisState(world)) === 'ok');
  await Promise.all(world.workers.splice(0).map((worker) => worker.stop()));
  const atOnce = faultSize(8, 25);
  const answers = await callInRounds(world, JOBS / atOnce, atOnce);
  await world.vies.defaults({ latency_ms: 500 });
  const lookups = async () => (await world.vies.stats()).totals.total;
  const before = await lookups();
  const starting = Promise.all([world.startWorker(), world.startWorker()]);
  await until('lookups', async () => (await lookups()) > before, 30_000);
  const inFlight = (await readLedger(world)).open;
  await disturb();
  const disturbedAt = performance.now();
  const during = await callInRounds(world, faultSize(4, 20), 4);
  await starting;
  await world.vies.defaults({ latency_ms: 50 });
  await until('every request to end', noneOpen(world), faultSize(45_000, 90_000));
  const seconds = ((performance.now() - disturbedAt) / 1_000).toFixed(1);
  const slowest = Math.max(...during.map(({ ms }) => ms));
  process.stdout.write(
    `${what}: ${inFlight} in flight, all ended after ${seconds} s, slowest call meanwhile ${slowest.toFixed(0)} ms\n`,
  );
  expect(inFlight).toBeGreaterThan(JOBS / 2);
  expect([...answers, ...during].filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
  expect(slowest).toBeLessThan(ANSWERED_WITHIN_MS);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject(balancedLedger(ledger));
  const { states } = await world.vies.stats();
  expect(Math.max(...Object.values(states).map(({ max_in_flight }) => max_in_flight))).toBeLessThanOrEqual(2);
  await until('Redis to be reported as reachable', async () => (await redisState(world)) === 'ok', 20_000);
  for (const part of [...world.apis, ...world.workers])
    expect(part.lines().filter((line) => !line.startsWith('{') || line.includes('"level":"error"'))).toEqual([]);
};

test(
  'a Sentinel failover loses no check, whether the master ends or freezes',
  async () => {
    const world = await start('sentinel', { REDIS_URL: sentinel.url, ...MANY_PENDING });
    const first = await sentinel.master();
    await expectNoneLost(world, 'Sentinel, master killed', () => first.kill());
    await first.restart();
    const second = await sentinel.master();
    expect(second.port).not.toBe(first.port);
    await until('the first to be its replica', () => isReplica(first), 30_000);
    await expectNoneLost(world, 'Sentinel, master frozen', async () => second.freeze());
    second.thaw();
    expect((await sentinel.master()).port).toBe(first.port);
  },
  faultSize(180_000, 600_000),
);

test(
  'a cluster loses no check when a queue moves to another master, and when a master freezes or ends',
  async () => {
    const world = await start('cluster', { REDIS_URL: cluster.url, ...MANY_PENDING });
    const [first, second] = cluster.masters;
    await expectNoneLost(world, 'cluster, slots moved', async () => {
      for (const queue of ['upstream-DE', 'upstream-IT', 'upstream-PL', 'settle', 'maintenance', 'deliveries']) {
        const slot = Number(await first.redis.call('CLUSTER', 'KEYSLOT', `{${queue}}`));
        const owner = cluster.masters[Math.floor((slot * 3) / 16_384)] ?? second;
        await cluster.moveSlot(slot, owner, owner === second ? first : second);
      }
    });
    await expectNoneLost(world, 'cluster, master frozen', async () => first.freeze());
    first.thaw();
    await until('it to be the replica of its replica', () => isReplica(first), 30_000);
    await expectNoneLost(world, 'cluster, master killed', () => cluster.replica.kill());
  },
  faultSize(180_000, 600_000),
);

test('a Redis with TLS serves checks and the admin command', async () => {
  const world = await start('tls', { REDIS_URL: tls.url, REDIS_CA: tls.ca ?? '', UPSTREAM_WINDOW: '10s' });
  const [answer] = await callChecks(world, newNumbers(1));
  expect(answer).toMatchObject({ status: 201, body: { valid: true } });
  expect(await redisState(world)).toBe('ok');
  expect(await world.admin('reconcile')).toMatchObject({ enqueued: 0 });
}, 60_000);
