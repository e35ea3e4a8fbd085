import {
  balancedLedger,
  callChecks,
  faultSize,
  numberOf,
  openWorldRedis,
  readLedger,
  startWorld,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';
import fc from 'fast-check';

let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  world = await startWorld({
    workers: 2,
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

/** Kills a worker as the machine would, and starts another. */
const replaceWorker = async (): Promise<void> => {
  const [victim] = world.workers.splice(0, 1);
  victim?.signal('SIGKILL');
  await victim?.exited;
  await world.startWorker();
};

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
