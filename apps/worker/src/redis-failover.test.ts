import { uuidOf } from '@vat/domain';
import {
  balancedLedger,
  callChecks,
  faultSize,
  isFullSize,
  NUMBERED_STATES,
  numberSequence,
  readLedger,
  reportFigure,
  startWorld,
  until,
  type World,
} from '@vat/testkit';
import {
  type RedisSet,
  startClusterSet,
  startSentinelSet,
  startSwappedPair,
  startTlsRedis,
} from '@vat/testkit/redis-sets';
import { CLUSTER_SETTINGS } from './fleet.fixture.js';

/** What every caller is promised while Redis is away. */
const ANSWERED_WITHIN_MS = 2_000;
const JOBS = faultSize(48, 1_000);
const AT_ONCE = faultSize(8, 25);
const STATES = NUMBERED_STATES.slice(0, faultSize(6, NUMBERED_STATES.length));
/** Lookups during a fault take so long that most jobs are in flight when it begins. */
const SLOW = { latency_ms: faultSize(2_500, 4_000) };
const QUICK = { latency_ms: 20 };

/** Calls are soon answered 202. */
const MANY_PENDING = { UPSTREAM_WINDOW: '100ms' };

const sets: RedisSet[] = [];
const worlds: World[] = [];
let lastTurn: Promise<unknown> = Promise.resolve();
/** What loads the machine runs one after the other, so that only what waits runs at once. */
const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
  const turn = lastTurn.then(work);
  lastTurn = turn.catch(() => undefined);
  return turn;
};
const started = <T extends RedisSet>(set: T): T => {
  sets.push(set);
  return set;
};
const start = async (settings: Record<string, string>, workers: number): Promise<World> => {
  const world = await inTurn(() =>
    startWorld({ ownProcesses: true, workers, settings: { ...CLUSTER_SETTINGS, ...settings } }),
  );
  worlds.push(world);
  return world;
};

const nextNumber = numberSequence(STATES);
const newNumbers = (count: number) => Array.from({ length: count }, () => nextNumber());
const redisState = async (world: World): Promise<unknown> =>
  ((await (await fetch(`${world.baseUrl()}/readyz`)).json()) as { redis: unknown }).redis;

const isReplica = async ({ redis }: { redis: { info: (section: string) => Promise<string> } }): Promise<boolean> =>
  /master_link_status:up/.test(await redis.info('replication').catch(() => ''));

type Answers = Awaited<ReturnType<typeof callChecks>>;

/** Calls in rounds, so that the number of calls at once, and what they meet, do not depend on their total. */
const callInRounds = async (world: World, rounds: number, atOnce: number): Promise<Answers> => {
  const answers: Answers = [];
  let account = '';
  for (let round = 0; round < rounds; round += 1) {
    // An account may have 200 pending requests.
    if ((round * atOnce) % 150 < atOnce) account = uuidOf('account', (await world.newAccount()).account_id) ?? '';
    answers.push(...(await callChecks(world, newNumbers(atOnce), account)));
  }
  return answers;
};

/** Accepts many checks, and calls `disturb` during their first lookups. Each check must end, once. */
const expectNoneLost = async (world: World, what: string, disturb: () => Promise<void>) => {
  await until('Redis', async () => (await redisState(world)) === 'ok');
  await world.vies.defaults(SLOW);
  // So many are accepted while no worker runs, or the first would end before the last is accepted.
  const workers = isFullSize() ? world.workers.splice(0) : [];
  await Promise.all(workers.map((worker) => worker.stop()));
  const answers = await inTurn(() => callInRounds(world, JOBS / AT_ONCE, AT_ONCE));
  await Promise.all(workers.map(() => world.startWorker()));
  const { open: inFlight } = await readLedger(world);
  await disturb();
  const disturbedAt = performance.now();
  const during = await callInRounds(world, faultSize(4, 20), 4);
  await world.vies.defaults(QUICK);
  await until('every request to end', async () => (await readLedger(world)).open === 0, faultSize(45_000, 90_000));
  const seconds = ((performance.now() - disturbedAt) / 1_000).toFixed(1);
  const slowest = Math.max(...during.map(({ ms }) => ms));
  const { states } = await world.vies.stats();
  const atOnce = Math.max(...Object.values(states).map(({ max_in_flight: max }) => max));
  reportFigure(
    `${what}: ${inFlight} in flight, all ended after ${seconds} s, at most ${atOnce} lookups of a state at a time, ` +
      `slowest call meanwhile ${slowest.toFixed(0)} ms`,
  );
  expect(inFlight).toBeGreaterThan(JOBS * faultSize(0.5, 0.9));
  expect([...answers, ...during].filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
  expect(slowest).toBeLessThan(ANSWERED_WITHIN_MS);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject(balancedLedger(ledger));
  expect(atOnce).toBeLessThanOrEqual(2);
  await until('Redis to be reported as reachable', async () => (await redisState(world)) === 'ok');
  for (const part of [...world.apis, ...world.workers])
    expect(part.lines().filter((line) => !line.startsWith('{') || line.includes('"level":"error"'))).toEqual([]);
};

const failOverSentinel = async () => {
  const sentinel = started(await startSentinelSet());
  const world = await start({ REDIS_URL: sentinel.url, ...MANY_PENDING }, 2);
  const first = await sentinel.master();
  await expectNoneLost(world, 'Sentinel, master killed', () => first.kill());
  await first.restart();
  const second = await sentinel.master();
  expect(second.port).not.toBe(first.port);
  await until('the first to be its replica', () => isReplica(first));
  await expectNoneLost(world, 'Sentinel, master frozen', async () => second.freeze());
  second.thaw();
  expect((await sentinel.master()).port).toBe(first.port);
};

const failOverCluster = async () => {
  const cluster = started(await startClusterSet());
  const world = await start({ REDIS_URL: cluster.url, ...MANY_PENDING }, 2);
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
  await until('it to be the replica of its replica', () => isReplica(first));
  await expectNoneLost(world, 'cluster, master killed', () => cluster.replica.kill());
};

const followAddress = async () => {
  const pair = started(await startSwappedPair());
  const world = await start({ REDIS_URL: pair.url, ...MANY_PENDING }, 2);
  await expectNoneLost(world, 'one address, its master becomes a replica', pair.swap);
};

const useTls = async () => {
  const tls = started(await startTlsRedis());
  const world = await start({ REDIS_URL: tls.url, REDIS_CA: tls.ca ?? '', UPSTREAM_WINDOW: '10s' }, 1);
  const [answer] = await callChecks(world, newNumbers(1));
  expect(answer).toMatchObject({ status: 201, body: { valid: true } });
  expect(await redisState(world)).toBe('ok');
  expect(await world.admin('reconcile')).toMatchObject({ enqueued: 0 });
};

/** Runs it at its first call; every call awaits its end. */
const once = (run: () => Promise<void>): (() => Promise<void>) => {
  let running: Promise<PromiseSettledResult<void>[]> | null = null;
  return async () => {
    running ??= Promise.allSettled([run()]);
    for (const ended of await running) if (ended.status === 'rejected') throw ended.reason;
  };
};
const sentinelTest = once(failOverSentinel);
const clusterTest = once(failOverCluster);
const addressTest = once(followAddress);
const tlsTest = once(useTls);

beforeAll(() => {
  // They mostly wait, so together they take as long as the longest. At full size each has the machine for itself.
  if (!isFullSize()) for (const run of [clusterTest, sentinelTest, addressTest, tlsTest]) run().catch(() => undefined);
});
afterAll(async () => {
  await Promise.all(worlds.map((world) => world.stop()));
  await Promise.all(sets.map((set) => set.stop()));
});

test('a Sentinel failover loses no check, whether the master ends or freezes', sentinelTest, 400_000);

test(
  'a cluster loses no check when a queue moves to another master, and when a master freezes or ends',
  clusterTest,
  400_000,
);

test(
  'an address that leads to another master loses no check, though the former one stays as a replica',
  addressTest,
  200_000,
);

test('a Redis with TLS serves checks and the admin command', tlsTest, 60_000);
