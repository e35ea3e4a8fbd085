import { uuidOf } from '@vat/domain';
import {
  callChecks,
  faultSize,
  issueKeys,
  numberSequence,
  type OwnServers,
  readLedger,
  reportFigure,
  startOwnServers,
  startWorld,
  type TestProcess,
  until,
  type World,
} from '@vat/testkit';

/** What every caller is promised while Redis is away. */
const ANSWERED_WITHIN_MS = 2_000;
/** The smallest time between two warnings of a process. */
const WARNS_EVERY_MS = 30_000;
/** How long Redis is away at least. */
const AWAY_MS = faultSize(0, 60_000);

let servers: OwnServers;
let world: World;
beforeAll(async () => {
  servers = await startOwnServers();
  world = await startWorld({
    ownProcesses: true,
    servers: { databaseUrl: servers.postgres.url, redisUrl: servers.redis.url },
    settings: { UPSTREAM_WINDOW: '5s', BACKGROUND_GIVE_UP_AFTER: '10m', SWEEP_EVERY: '500ms' },
  });
});
afterAll(async () => {
  servers?.redis.thaw();
  await world?.stop();
  await servers?.stop();
});

const nextNumber = numberSequence();
const get = async (path: string, key = '') => {
  const startedAt = performance.now();
  const response = await fetch(`${world.baseUrl()}${path}`, { headers: { authorization: `Bearer ${key}` } });
  const body = (await response.json()) as Record<string, unknown>;
  return { status: response.status, body, ms: performance.now() - startedAt };
};
const callMany = (count: number, accountId?: string) =>
  callChecks(
    world,
    Array.from({ length: count }, () => nextNumber()),
    accountId,
  );
/** Ten calls every second, for as long as Redis is to be away. */
const callWhileAway = async () => {
  const awayAt = performance.now();
  const answers = await callMany(10);
  for (let seconds = 1; seconds * 1_000 <= AWAY_MS; seconds += 1) {
    await until('the next second', () => performance.now() - awayAt > seconds * 1_000);
    // What is accepted stays pending until Redis is back, and an account may have 200 of those.
    const { account_id: id } = await world.newAccount();
    answers.push(...(await callMany(10, uuidOf('account', id) ?? '')));
  }
  return answers;
};
const statuses = (answers: { status: number }[]) => [...new Set(answers.map(({ status }) => status))];
const slowest = (answers: { ms: number }[]) => Math.max(...answers.map(({ ms }) => ms));

const noneOpen = async () => (await readLedger(world)).open === 0;
const isAlive = async (part: TestProcess) => (await Promise.race([part.exited, 'running'])) === 'running';
const warnings = (part: TestProcess) => part.lines().filter((line) => line.includes('"Redis is away."'));

/** The figure of the API and of the worker: whether Redis is away. */
const awayFigures = () =>
  Promise.all(
    [world.baseUrl(), `http://127.0.0.1:${String(world.workers[0]?.ready.metrics_port)}`].map(async (url) => {
      const text = await (await fetch(`${url}/metrics`)).text();
      return Number(/^vat_redis_away\S* (\d)$/m.exec(text)?.[1]);
    }),
  );

/** Everything accepted meanwhile ends soon after Redis is back, once each; no process died of it. */
const expectRecovery = async (what: string) => {
  const backAt = performance.now();
  await until('every request to end', noneOpen, 20_000);
  const seconds = (performance.now() - backAt) / 1_000;
  reportFigure(`redis away: ${what}: all ended ${seconds.toFixed(1)} s after it was back`);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject({
    completed: ledger.requests,
    reserved: 0,
    acceptedWithoutOneEvent: 0,
    needlessEvents: 0,
  });
  for (const part of [...world.apis, ...world.workers]) {
    expect(await isAlive(part)).toBe(true);
    expect(part.lines().filter((line) => line.includes('"level":"error"'))).toEqual([]);
  }
  const again = await until('a check to be answered 201 again', async () => {
    const [answer] = await callMany(1);
    return answer?.status === 201 && answer;
  });
  expect(again.body.valid).toBe(true);
  await until('every request to end', noneOpen);
};

test('without Redis checks are accepted at once, reads work, and all of it ends when Redis comes back empty', async () => {
  expect(statuses(await callMany(3))).toEqual([201]);
  await servers.redis.kill();
  const killedAt = performance.now();
  const answers = await callWhileAway();
  expect(statuses(answers)).toEqual([202]);
  expect(slowest(answers)).toBeLessThan(ANSWERED_WITHIN_MS);
  const [key = ''] = await issueKeys(world, 1);
  const read = await get(`/v1/requests/${String(answers[0]?.body.request_id)}`, key);
  expect(read).toMatchObject({ status: 200, body: { status: 'pending' } });
  expect(read.ms).toBeLessThan(ANSWERED_WITHIN_MS);
  const ready = await get('/readyz');
  expect(ready).toMatchObject({ status: 200, body: { status: 'degraded', redis: 'unreachable' } });
  expect(await awayFigures()).toEqual([1, 1]);
  await until('a longer absence', () => warnings(world.workers[0] as TestProcess).length > 0);
  // Each of dozens of connections tries again every second; a line each would flood the log.
  const mostLines = 1 + Math.floor((performance.now() - killedAt) / WARNS_EVERY_MS);
  for (const part of [...world.apis, ...world.workers]) expect(warnings(part).length).toBeLessThanOrEqual(mostLines);
  await servers.redis.start();
  await expectRecovery('killed');
  expect(await awayFigures()).toEqual([0, 0]);
});

test('a frozen Redis delays no call by two seconds', async () => {
  await servers.redis.freeze();
  const answers = await callWhileAway();
  const later = await callMany(faultSize(10, 100));
  const ready = await get('/readyz');
  const figures = await awayFigures();
  servers.redis.thaw();
  expect(ready).toMatchObject({ status: 200, body: { status: 'degraded', redis: 'unreachable' } });
  expect(ready.ms).toBeLessThan(ANSWERED_WITHIN_MS);
  expect(figures).toEqual([1, 1]);
  expect(statuses([...answers, ...later])).toEqual([202]);
  expect(slowest([...answers, ...later])).toBeLessThan(ANSWERED_WITHIN_MS);
  await expectRecovery('frozen');
});

test('calls that wait while Redis fails are answered when their window ends', async () => {
  await world.vies.defaults({ latency_ms: 600 });
  const calls = callMany(6);
  await until('lookups', async () => ((await world.vies.stats()).totals.in_flight ?? 0) > 0);
  await servers.redis.kill();
  const answers = await calls;
  expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
  expect(slowest(answers)).toBeLessThan(5_000 + 1_000);
  await world.vies.reset();
  await servers.redis.start();
  await expectRecovery('killed during lookups');
});

test('processes that start without Redis serve once it is there', async () => {
  await servers.redis.kill();
  const api = await world.startApi();
  const worker = await world.startWorker();
  const [first] = world.workers.splice(0, 1);
  const [firstApi] = world.apis.splice(0, 1);
  await Promise.all([first?.stop(), firstApi?.stop()]);
  expect(statuses(await callMany(3))).toEqual([202]);
  await servers.redis.start();
  await expectRecovery('away at the start');
  expect([await isAlive(api), await isAlive(worker)]).toEqual([true, true]);
});
