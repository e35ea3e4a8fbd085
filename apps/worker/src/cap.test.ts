import {
  faultSize,
  issueKeys,
  numberOf,
  openWorldRedis,
  readLedger,
  startWorld,
  type TestProcess,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';
import fc from 'fast-check';

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

/** Calls for new numbers of one state, all at once; what they were answered, and the numbers. */
const callMany = async (state: State, count: number) => {
  const keys = await issueKeys(world, count);
  const calls = keys.map(async (key) => {
    numbers += 1;
    const vatNumber = numberOf(state, numbers);
    const response = await fetch(`${world.baseUrl()}/v1/checks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ vat_number: vatNumber }),
    });
    await response.arrayBuffer();
    return { status: response.status, vatNumber };
  });
  return Promise.all(calls);
};

const noneOpen = async () => (await readLedger(world)).open === 0;
const statsOf = async (state: State) => (await world.vies.stats()).states[state];
const inFlight = async (state: State) => (await statsOf(state))?.in_flight ?? 0;

/** The law: never more than two, everything ended once, told once, charged once. */
const expectLawful = async (...states: State[]) => {
  const stats = await world.vies.stats();
  for (const state of states) expect(stats.states[state]?.max_in_flight).toBeLessThanOrEqual(2);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject({
    open: 0,
    completed: ledger.requests,
    checks: ledger.requests,
    used: ledger.requests,
    reserved: 0,
    events: ledger.accepted,
    acceptedWithoutOneEvent: 0,
    needlessEvents: 0,
    unchargedChecks: 0,
  });
};

const replaceWorker = async (gone: TestProcess): Promise<void> => {
  world.workers.splice(world.workers.indexOf(gone), 1);
  await world.startWorker();
};

test('three workers ask one member state two at a time, and use both slots', async () => {
  await world.vies.state('DE', { latency_ms: 100 });
  const startedAt = performance.now();
  const count = faultSize(40, 400);
  const answers = await callMany('DE', count);
  expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
  await until('every request to end', noneOpen, 120_000);
  const seconds = (performance.now() - startedAt) / 1_000;
  expect((await statsOf('DE'))?.max_in_flight).toBe(2);
  await expectLawful('DE');
  process.stdout.write(
    `cap: ${count} asks of 100 ms in ${seconds.toFixed(1)} s, ideal ${(count * 0.05).toFixed(1)} s\n`,
  );
}, 180_000);

test('a loss of Redis in the middle neither loses a request nor passes two at a time', async () => {
  await world.vies.state('IT', { latency_ms: 100 });
  const calls = callMany('IT', faultSize(30, 300));
  for (let flushes = 0; flushes < 3; flushes += 1) {
    await until('both slots to be in use', async () => (await inFlight('IT')) === 2);
    expect(await redis.flush()).toBeGreaterThan(0);
  }
  const startedAt = performance.now();
  await calls;
  await until('every request to end', noneOpen, 60_000);
  await expectLawful('IT');
  process.stdout.write(`cap: all ended ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after a flush\n`);
  expect(await redis.jobs()).toEqual([]);
}, 120_000);

test('a member state goes on within 20 s after the worker that held both its slots was killed', async () => {
  const only = await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'EL' });
  const others = world.workers.filter((worker) => worker !== only);
  // The others may not serve this state, or they would have its slots: they are stopped in their tracks for the while.
  await world.vies.state('EL', { latency_ms: 4_000 });
  for (const other of others) other.signal('SIGSTOP');
  let calls: ReturnType<typeof callMany>;
  try {
    calls = callMany('EL', 4);
    await until('both slots to be in use', async () => (await inFlight('EL')) === 2);
  } finally {
    for (const other of others) other.signal('SIGCONT');
  }
  only.signal('SIGKILL');
  const killedAt = performance.now();
  await only.exited;
  world.workers.splice(world.workers.indexOf(only), 1);
  await world.vies.state('EL', { latency_ms: 50 });
  await until('an ask after the kill', async () => ((await statsOf('EL'))?.answered ?? 0) >= 1, 20_000);
  const seconds = (performance.now() - killedAt) / 1_000;
  await calls;
  await until('every request to end', noneOpen, 30_000);
  const allSeconds = (performance.now() - killedAt) / 1_000;
  await expectLawful('EL');
  expect(allSeconds).toBeLessThan(20);
  process.stdout.write(
    `cap: went on ${seconds.toFixed(1)} s after kill -9, all ended after ${allSeconds.toFixed(1)} s\n`,
  );
}, 60_000);

test('a worker that stands still for longer than its lock leaves one result, one unit, one event', async () => {
  await world.vies.state('PT', { latency_ms: 1_000 });
  const frozen = await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'PT' });
  const others = world.workers.filter((worker) => worker !== frozen);
  for (const other of others) other.signal('SIGSTOP');
  let calls: ReturnType<typeof callMany>;
  try {
    calls = callMany('PT', 4);
    await until('both slots to be in use', async () => (await inFlight('PT')) === 2);
    frozen.signal('SIGSTOP');
  } finally {
    for (const other of others) other.signal('SIGCONT');
  }
  const stoodStill = performance.now();
  await calls;
  await until('the lock to run out', () => performance.now() - stoodStill > faultSize(14_000, 30_000), 40_000);
  frozen.signal('SIGCONT');
  await until('every request to end', noneOpen, 30_000);
  await expectLawful('PT');
  await frozen.stop();
  expect(frozen.lines().filter((line) => line.includes('"level":"error"'))).toEqual([]);
  world.workers.splice(world.workers.indexOf(frozen), 1);
}, 90_000);

test('a direct call goes before a backlog of background requests', async () => {
  await world.vies.state('LV', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
  await callMany('LV', 30);
  expect((await readLedger(world)).open).toBe(30);
  await world.vies.state('LV', { answer: null, latency_ms: 150 });
  const answeredBefore = await until('the backlog to be asked', async () => {
    const journal = await world.vies.journal();
    const valid = journal.filter((entry) => entry.member_state === 'LV' && entry.answer === 'valid');
    return valid.length >= 4 && valid.length;
  });
  const [direct] = await callMany('LV', 1);
  expect(direct?.status).toBe(201);
  const journal = await world.vies.journal();
  const order = journal.filter((entry) => entry.member_state === 'LV' && entry.answer === 'valid');
  const place = order.findIndex((entry) => entry.number === direct?.vatNumber);
  expect(place).toBeGreaterThanOrEqual(0);
  // Two were open when it came, two more may have begun while the call was on its way.
  expect(place - answeredBefore).toBeLessThanOrEqual(4);
  await until('every request to end', noneOpen, 30_000);
  await expectLawful('LV');
}, 60_000);

test('any mixture of latencies, kills and losses of Redis keeps two at a time', async () => {
  const fault = fc.constantFrom('kill', 'flush', 'none' as const);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 10, maxLength: 20 }),
      fc.array(fault, { minLength: 1, maxLength: 3 }),
      async (latencies, faults) => {
        await world.vies.reset();
        const first = numbers;
        for (const [i, latency] of latencies.entries()) {
          await world.vies.script(numberOf('HU', first + i + 1), [{ kind: 'valid', latency_ms: latency }]);
        }
        const calls = callMany('HU', latencies.length);
        for (const what of faults) {
          await until('an ask', async () => (await inFlight('HU')) > 0 || (await noneOpen()));
          if (what === 'flush') await redis.flush();
          const [victim] = world.workers;
          if (what === 'kill' && victim) {
            victim.signal('SIGKILL');
            await victim.exited;
            await replaceWorker(victim);
          }
        }
        await calls;
        await until('every request to end', noneOpen, 30_000);
        await expectLawful('HU');
      },
    ),
    { numRuns: faultSize(2, 25), endOnFailure: true },
  );
}, 900_000);
