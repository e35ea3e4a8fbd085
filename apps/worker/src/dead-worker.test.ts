import { uuidOf } from '@vat/domain';
import { faultSize, isFullSize, reportFigure, skewedClock, startWorld, until, type World } from '@vat/testkit';
import { CLUSTER_SETTINGS, clusterOf } from './fleet.fixture.js';

let world: World;

beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    // The tests start the workers that look up; this one only sweeps, as one worker of every deployment does.
    workers: 0,
    settings: CLUSTER_SETTINGS,
  });
  await world.startWorker({ WORKER_QUEUES: 'maintenance' });
});
afterAll(async () => {
  await world?.stop();
});

/** The operations for an account of its own. */
const newCluster = async () => {
  const { account_id: id } = await world.newAccount();
  return clusterOf(() => world, uuidOf('account', id) ?? '');
};
/** Both tests mostly wait for locks of the dead. At full size each has the machine for itself. */
const testBesideOthers = isFullSize() ? test : test.concurrent;

testBesideOthers(
  'a member state continues within 20 s after the worker that held both its slots was killed',
  async () => {
    const { callMany, noneOpen, statsOf, inFlight, expectLawful } = await newCluster();
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
    await until('every request to end', noneOpen);
    const allSeconds = (performance.now() - killedAt) / 1_000;
    await expectLawful('EL');
    expect(allSeconds).toBeLessThan(20);
    reportFigure(`cap: went on ${seconds.toFixed(1)} s after kill -9, all ended after ${allSeconds.toFixed(1)} s`);
  },
);

testBesideOthers(
  'a worker that stalls for longer than its lock leaves its slots to others, and nothing is done twice',
  async () => {
    const { callMany, noneOpen, statsOf, inFlight, expectLawful } = await newCluster();
    const settings = { WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'PT', UPSTREAM_ATTEMPT_TIMEOUT: '2s' };
    await world.vies.state('PT', { latency_ms: 1_500 });
    const first = await world.startWorker(settings);
    const calls = callMany('PT', 4);
    await until('both slots to be in use', async () => (await inFlight('PT')) === 2);
    first.signal('SIGSTOP');
    const stalledAt = performance.now();
    // Its clock is 30 s ahead, which changes nothing: Postgres measures how long the first is silent.
    const second = await world.startWorker({ ...settings, ...skewedClock(30_000) });
    await calls;
    await until('the second to complete every request', noneOpen);
    const seconds = (performance.now() - stalledAt) / 1_000;
    await until('three times the lock', () => performance.now() - stalledAt > faultSize(0, 30_000));
    first.signal('SIGCONT');

    // Quick lookups, so that a worker stalls between any two steps of one.
    await world.vies.state('PT', { latency_ms: 5 });
    const lookups = async () => (await statsOf('PT'))?.total ?? 0;
    const rounds = faultSize(0, 6);
    for (let round = 0; round < rounds; round += 1) {
      const stalling = round % 2 === 0 ? second : first;
      const enough = (await lookups()) + 1 + Math.floor(Math.random() * 60);
      const many = callMany('PT', 100);
      await until('some lookups', async () => (await lookups()) >= enough);
      stalling.signal('SIGSTOP');
      await many;
      await until('the other one to complete every request', noneOpen);
      const more = callMany('PT', 50);
      stalling.signal('SIGCONT');
      await more;
    }
    await callMany('PT', 10);
    await until('every request to end', noneOpen);
    await expectLawful('PT');
    for (const worker of [first, second]) {
      await worker.stop();
      expect(worker.lines().filter((line) => line.includes('"level":"error"'))).toEqual([]);
      world.workers.splice(world.workers.indexOf(worker), 1);
    }
    reportFigure(
      `cap: went on and ended ${seconds.toFixed(1)} s after the worker stalled; stalled ${1 + rounds} times`,
    );
  },
  faultSize(90_000, 400_000),
);
