import type { ServerResponse } from 'node:http';
import {
  configureWebhook,
  faultSize,
  issueKeys,
  numberSequence,
  type OwnServers,
  openReceivers,
  type Receivers,
  readLedger,
  reportFigure,
  startOwnServers,
  startWorld,
  type TestProcess,
  until,
  type World,
  withStatus,
} from '@vat/testkit';

const ANSWERED_WITHIN_MS = 2_000;
/** How long Postgres is away at least. */
const AWAY_MS = faultSize(0, 60_000);
/** Calls a second meanwhile. They and this process, which measures them, share two cores with other tests. */
const CALLS_A_SECOND = faultSize(10, 30);

let servers: OwnServers;
let receivers: Receivers;
let world: World;
let keys: string[];
beforeAll(async () => {
  servers = await startOwnServers();
  receivers = openReceivers();
  world = await startWorld({
    ownProcesses: true,
    servers: { databaseUrl: servers.postgres.url, redisUrl: servers.redis.url },
    settings: {
      ...receivers.settings,
      UPSTREAM_WINDOW: '1s',
      BACKGROUND_GIVE_UP_AFTER: '10m',
      SWEEP_EVERY: '500ms',
      WEBHOOK_TIMEOUT: '30s',
    },
  });
  keys = await issueKeys(world, 200);
});
afterAll(async () => {
  servers?.postgres.thaw();
  await world?.stop();
  await receivers?.close();
  await servers?.stop();
});

const nextNumber = numberSequence();
let made = 0;
type Answer = { status: number; body: Record<string, unknown>; ms: number };
const call = async (method: 'GET' | 'POST', path: string, vatNumber = nextNumber()): Promise<Answer> => {
  made += 1;
  const startedAt = performance.now();
  const response = await fetch(`${world.baseUrl()}${path}`, {
    method,
    headers: { authorization: `Bearer ${keys[made % keys.length]}`, 'content-type': 'application/json' },
    ...(method === 'POST' ? { body: JSON.stringify({ vat_number: vatNumber }) } : {}),
  });
  return {
    status: response.status,
    body: (await response.json()) as Record<string, unknown>,
    ms: performance.now() - startedAt,
  };
};
const callMany = (count: number) => Promise.all(Array.from({ length: count }, () => call('POST', '/v1/checks')));
/** Calls every second, for as long as Postgres is to be away. */
const callWhileAway = async () => {
  const awayAt = performance.now();
  const answers = await callMany(CALLS_A_SECOND);
  for (let seconds = 1; seconds * 1_000 <= AWAY_MS; seconds += 1) {
    await until('the next second', () => performance.now() - awayAt > seconds * 1_000);
    answers.push(...(await callMany(CALLS_A_SECOND)));
  }
  return answers;
};
const slowest = (answers: { ms: number }[]) => Math.max(...answers.map(({ ms }) => ms));
const isAlive = async (part: TestProcess) => (await Promise.race([part.exited, 'running'])) === 'running';

/** Calls made while Postgres is away: the one answer there is, in time. */
const expectRefused = (answers: Answer[]) => {
  for (const { status, body } of answers) {
    expect(status).toBe(500);
    expect(body).toEqual({ error: { code: 'INTERNAL', message: expect.any(String) } });
  }
  expect(slowest(answers)).toBeLessThan(ANSWERED_WITHIN_MS);
};

/** Every request that was promised an end gets it; nothing is sent or charged twice; the service serves again. */
const expectRecovery = async (what: string, promised: Answer[]) => {
  const backAt = performance.now();
  await until(
    'a check to be answered 201 again',
    async () => (await call('POST', '/v1/checks')).status === 201,
    15_000,
  );
  const ids = promised.filter(({ status }) => status === 202).map(({ body }) => String(body.request_id));
  await until(
    'every accepted request to end',
    async () =>
      (await world.sql("SELECT id FROM request WHERE accepted_at IS NOT NULL AND state = 'pending'")).length === 0,
    20_000,
  );
  reportFigure(
    `postgres away: ${what}: accepted requests ended ${((performance.now() - backAt) / 1_000).toFixed(1)} s after`,
  );
  for (const id of ids) expect((await call('GET', `/v1/requests/${id}`)).body.status).toBe('completed');
  expect(await readLedger(world)).toMatchObject({ acceptedWithoutOneEvent: 0, needlessEvents: 0, unchargedChecks: 0 });
  for (const part of [...world.apis, ...world.workers]) expect(await isAlive(part)).toBe(true);
};

test('without Postgres every call is refused in time, and afterwards nothing that was promised is lost', async () => {
  await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
  const promised = await callMany(10);
  expect(new Set(promised.map(({ status }) => status))).toEqual(new Set([202]));
  await world.vies.answerAll({ kind: 'valid', latency_ms: 700 });
  await until('open lookups', async () => (await world.vies.stats()).totals.in_flight > 0);
  await servers.postgres.kill();
  expectRefused(await callWhileAway());
  expect(await call('GET', '/readyz')).toMatchObject({
    status: 503,
    body: { status: 'unavailable', postgres: 'unreachable' },
  });
  expect((await call('GET', '/healthz')).status).toBe(200);
  const worker = world.workers[0] as TestProcess;
  const probe = await fetch(`http://127.0.0.1:${String(worker.ready.metrics_port)}/readyz`);
  expect([probe.status, await probe.json()]).toMatchObject([503, { postgres: 'unreachable' }]);
  await servers.postgres.start();
  await world.vies.reset();
  await expectRecovery('killed', promised);
});

test('a frozen Postgres delays no call by two seconds, at any number of calls', async () => {
  await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
  const promised = await callMany(5);
  await world.vies.reset();
  await servers.postgres.freeze();
  // More than the connections of the process.
  const first = callMany(faultSize(25, 150));
  await until('the pool to be full of them', async () => (await call('GET', '/healthz')).status === 200);
  const answers = await first;
  const later = await callWhileAway();
  const ready = await call('GET', '/readyz');
  servers.postgres.thaw();
  expectRefused([...answers, ...later]);
  expect(ready.status).toBe(503);
  expect(ready.ms).toBeLessThan(ANSWERED_WITHIN_MS);
  await expectRecovery('frozen', promised);
});

test('a call that waits while Postgres fails is answered 500 in time, never 202', async () => {
  await world.vies.answerAll({ kind: 'valid', latency_ms: 700 });
  const calls = callMany(6);
  await until('open lookups', async () => (await world.vies.stats()).totals.in_flight > 0);
  await servers.postgres.kill();
  const killedAt = performance.now();
  const answers = await calls;
  expect(performance.now() - killedAt).toBeLessThan(1_000 + ANSWERED_WITHIN_MS);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([500]));
  await servers.postgres.start();
  await world.vies.reset();
  await expectRecovery('killed while calls waited', []);
});

test('an outage of 5 s loses no answer of VIES and repeats no delivery, of those that are under way', async () => {
  const receiver = await receivers.start();
  await configureWebhook(world, world.account, receiver.url);
  const held: ServerResponse[] = [];
  receiver.answer((response) => held.push(response));
  await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
  const promised = await callMany(8);
  expect(new Set(promised.map(({ status }) => status))).toEqual(new Set([202]));
  await world.vies.reset();
  await until('deliveries in flight', () => held.length >= 3);

  // VIES answers, and storing the answers waits for this lock until Postgres is killed.
  const lock = 'DO $$ BEGIN LOCK TABLE "check" IN ACCESS EXCLUSIVE MODE; PERFORM pg_sleep(60); END $$';
  const locking = world.sql(lock).catch((error: Error) => error);
  await until('the lock', async () => {
    const locks = await world.sql(
      `SELECT 1 FROM pg_locks WHERE relation = '"check"'::regclass AND mode = 'AccessExclusiveLock' AND granted`,
    );
    return locks.length > 0;
  });
  const numbers = Array.from({ length: 20 }, () => nextNumber());
  const answers = Promise.all(numbers.map((number) => call('POST', '/v1/checks', number)));
  await until('VIES to have answered them', async () => {
    const lookups = await Promise.all(numbers.map((number) => world.vies.journal(number)));
    return lookups.every((ofNumber) => ofNumber.some(({ finished_at: at }) => at !== null));
  });
  await servers.postgres.kill();
  const killedAt = Date.now();
  receiver.answer(withStatus(204));
  for (const response of held) response.writeHead(204).end();
  await Promise.all([answers, locking]);
  await until('five seconds without Postgres', () => Date.now() - killedAt > 5_000);
  await servers.postgres.start();
  await expectRecovery('killed while answers and deliveries were under way', promised);

  const stored = await until('the answers to be stored', async () => {
    const rows = await world.sql<{ body: Buffer }>('SELECT body FROM "check" WHERE vat_number = ANY($1)', [numbers]);
    return rows.length === numbers.length && rows;
  });
  for (const { body } of stored) {
    const { checks } = JSON.parse(body.toString('utf8')) as { checks: { source: string; started_at: string }[] };
    const lookup = checks.find(({ source }) => source === 'vies');
    expect(Date.parse(lookup?.started_at ?? '')).toBeLessThan(killedAt);
  }
  await until('the deliveries to be successful', async () => {
    const open = await world.sql("SELECT 1 FROM delivery WHERE state = 'pending'");
    return open.length === 0;
  });
  const times = new Map<string, number>();
  for (const { headers } of receiver.arrivals) {
    const id = String(headers['webhook-id']);
    times.set(id, (times.get(id) ?? 0) + 1);
  }
  expect([...times.values()]).toEqual(new Array(times.size).fill(1));
  expect(times.size).toBeGreaterThanOrEqual(promised.length);
});
