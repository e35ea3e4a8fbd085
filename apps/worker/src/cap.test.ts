import {
  callChecks,
  faultSize,
  openWorldRedis,
  reportFigure,
  startWorld,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';
import fc from 'fast-check';
import { CLUSTER_SETTINGS, clusterOf } from './fleet.fixture.js';

let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    workers: 3,
    settings: CLUSTER_SETTINGS,
  });
  redis = await openWorldRedis(world);
});
afterAll(async () => {
  redis?.close();
  await world?.stop();
});
beforeEach(() => world.vies.reset());

const { callMany, newNumbers, noneOpen, statsOf, inFlight, expectLawful } = clusterOf(() => world);

test('three workers look up one member state two at a time, and use both slots', async () => {
  await world.vies.state('DE', { latency_ms: 100 });
  const startedAt = performance.now();
  const count = faultSize(40, 400);
  const answers = await callMany('DE', count);
  expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
  await until('every request to end', noneOpen, 120_000);
  const seconds = (performance.now() - startedAt) / 1_000;
  expect((await statsOf('DE'))?.max_in_flight).toBe(2);
  await expectLawful('DE');
  reportFigure(`cap: ${count} lookups of 100 ms in ${seconds.toFixed(1)} s, ideal ${(count * 0.05).toFixed(1)} s`);
});

test('a loss of Redis in the middle neither loses a request nor passes two at a time', async () => {
  await world.vies.state('IT', { latency_ms: 100 });
  const calls = callMany('IT', faultSize(30, 300));
  for (let flushes = 0; flushes < 3; flushes += 1) {
    await until('both slots to be in use', async () => (await inFlight('IT')) === 2);
    await until('something to lose', async () => (await redis.flush()) > 0);
  }
  const startedAt = performance.now();
  await calls;
  await until('every request to end', noneOpen);
  await expectLawful('IT');
  reportFigure(`cap: all ended ${((performance.now() - startedAt) / 1_000).toFixed(1)} s after a flush`);
  // Jobs that were given twice find nothing to do, and none is stored.
  await until('no job to be left', async () => (await redis.jobs()).length === 0);
});

test('a direct call is served before a backlog of background requests', async () => {
  await world.vies.state('LV', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
  const backlog = await callMany('LV', 30);
  expect(new Set(backlog.map(({ status }) => status))).toEqual(new Set([202]));
  await world.vies.state('LV', { answer: null, latency_ms: 150 });
  const lookupsOfBacklog = async () =>
    (await world.vies.journal()).filter((entry) => entry.member_state === 'LV' && entry.answer === 'valid');
  await until('lookups of the backlog', async () => (await lookupsOfBacklog()).length >= 4);
  const [direct] = await callMany('LV', 1);
  const [row] = await world.sql<{ at: Date }>('SELECT created_at AS at FROM request WHERE vat_number = $1', [
    direct?.vatNumber,
  ]);
  const lookups = await until('a lookup of the direct call', async () => {
    const all = await lookupsOfBacklog();
    return all.some((entry) => entry.number === direct?.vatNumber) && all;
  });
  const cameAt = row?.at.getTime() ?? 0;
  const before = lookups.slice(
    0,
    lookups.findIndex((entry) => entry.number === direct?.vatNumber),
  );
  // A job or two may begin between the row and its job, and one more in the other slot; never the whole backlog.
  expect(before.filter((entry) => entry.at > cameAt).length).toBeLessThanOrEqual(4);
  // Else there was no backlog to go before.
  expect(lookups.length).toBeLessThan(25);
  await until('every request to end', noneOpen);
  await expectLawful('LV');
});

/** Kills a worker as the machine would, and starts another. */
const replaceWorker = async (): Promise<void> => {
  const [victim] = world.workers.splice(0, 1);
  victim?.signal('SIGKILL');
  await victim?.exited;
  await world.startWorker();
};

test('for any mixture of latencies, kills and losses of Redis, at most two lookups run at a time', async () => {
  const fault = fc.constantFrom('kill', 'flush', 'none' as const);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 10, maxLength: 20 }),
      fc.array(fault, { minLength: 1, maxLength: 3 }),
      async (latencies, faults) => {
        await world.vies.reset();
        const numbers = newNumbers('HU', latencies.length);
        for (const [i, number] of numbers.entries()) {
          await world.vies.script(number, [{ kind: 'valid', latency_ms: latencies[i] ?? 0 }]);
        }
        const calls = callChecks(world, numbers);
        for (const what of faults) {
          // Two kills right after each other take both slots, which are free again when their jobs are found to be dead.
          await until('a lookup', async () => (await inFlight('HU')) > 0 || (await noneOpen()));
          if (what === 'flush') await redis.flush();
          if (what === 'kill') await replaceWorker();
        }
        await calls;
        await until('every request to end', noneOpen);
        await expectLawful('HU');
      },
    ),
    { numRuns: faultSize(2, 25), endOnFailure: true },
  );
}, 900_000);
