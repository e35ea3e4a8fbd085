import { callChecks, faultSize, openWorldRedis, startWorld, until, type World, type WorldRedis } from '@vat/testkit';
import fc from 'fast-check';
import { CLUSTER_SETTINGS, clusterOf } from './fleet.fixture.js';

let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  world = await startWorld({
    workers: 2,
    settings: CLUSTER_SETTINGS,
  });
  redis = await openWorldRedis(world);
}, 60_000);
afterAll(async () => {
  redis?.close();
  await world?.stop();
}, 60_000);
beforeEach(() => world.vies.reset());

const { newNumbers, noneOpen, inFlight, expectLawful } = clusterOf(() => world);

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
          await until('a lookup', async () => (await inFlight('HU')) > 0 || (await noneOpen()), 25_000);
          if (what === 'flush') await redis.flush();
          if (what === 'kill') await replaceWorker();
        }
        await calls;
        await until('every request to end', noneOpen, 30_000);
        await expectLawful('HU');
      },
    ),
    { numRuns: faultSize(2, 25), endOnFailure: true },
  );
}, 900_000);
