import { faultSize, reportFigure, startWorld, until, type World } from '@vat/testkit';
import { CLUSTER_SETTINGS, clusterOf } from './fleet.fixture.js';

let world: World;

beforeAll(async () => {
  world = await startWorld({
    // The tests start the workers that look up; this one only sweeps, as one worker of every deployment does.
    workers: 0,
    settings: CLUSTER_SETTINGS,
  });
  await world.startWorker({ WORKER_QUEUES: 'maintenance' });
}, 60_000);
afterAll(async () => {
  await world?.stop();
}, 60_000);
beforeEach(() => world.vies.reset());

const { callMany, noneOpen, statsOf, inFlight, expectLawful } = clusterOf(() => world);

test('a member state continues within 20 s after the worker that held both its slots was killed', async () => {
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
  await until('a lookup after the kill', async () => ((await statsOf('EL'))?.answered ?? 0) >= 1, 20_000);
  const seconds = (performance.now() - killedAt) / 1_000;
  await calls;
  await until('every request to end', noneOpen, 30_000);
  const allSeconds = (performance.now() - killedAt) / 1_000;
  await expectLawful('EL');
  expect(allSeconds).toBeLessThan(20);
  reportFigure(`cap: went on ${seconds.toFixed(1)} s after kill -9, all ended after ${allSeconds.toFixed(1)} s`);
}, 60_000);

test('a worker that stalls for longer than its lock leaves one result, one unit, one event', async () => {
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
