import {
  balancedLedger,
  callChecks,
  faultSize,
  numberOf,
  readLedger,
  startWorld,
  until,
  type World,
} from '@vat/testkit';

let world: World;

beforeAll(async () => {
  world = await startWorld({
    // The tests start the workers that ask; this one only sweeps, as some worker of every fleet does.
    workers: 0,
    settings: {
      UPSTREAM_WINDOW: '500ms',
      UPSTREAM_ATTEMPT_TIMEOUT: '5s',
      BACKGROUND_GIVE_UP_AFTER: '10m',
      SWEEP_EVERY: '500ms',
      LOG_LEVEL: 'warn',
    },
  });
  await world.startWorker({ WORKER_QUEUES: 'maintenance' });
}, 60_000);
afterAll(async () => {
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

test('a member state goes on within 20 s after the worker that held both its slots was killed', async () => {
  const only = await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'EL' });
  await world.vies.state('EL', { latency_ms: 4_000 });
  const calls = callMany('EL', 4);
  await until('both slots to be in use', async () => (await inFlight('EL')) === 2);
  await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'EL' });
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
  await world.vies.state('PT', { latency_ms: 1_500 });
  const frozen = await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'PT' });
  const calls = callMany('PT', 4);
  await until('both slots to be in use', async () => (await inFlight('PT')) === 2);
  frozen.signal('SIGSTOP');
  await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'PT' });
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
