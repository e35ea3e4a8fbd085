import {
  faultSize,
  issueKeys,
  NUMBERED_STATES,
  numberSequence,
  postCheck,
  readLedger,
  reportFigure,
  startWorld,
  until,
  type World,
} from '@vat/testkit';
import fc from 'fast-check';

const WINDOW_MS = 300;
/** What an API process logs when a busy machine answers the count of its calls late; it has nothing to do with the race. */
const BUSY = 'Rate limits are counted per process while Redis is away.';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    workers: 2,
    settings: {
      UPSTREAM_WINDOW: `${WINDOW_MS}ms`,
      BACKGROUND_GIVE_UP_AFTER: '60s',
      SWEEP_EVERY: '1s',
      LOG_LEVEL: 'warn',
    },
  });
});
afterAll(() => world?.stop());

const nextNumber = numberSequence();
const call = (key: string, vatNumber: string) => postCheck(world.baseUrl(), key, vatNumber);

const noneOpen = async () => {
  const ledger = await readLedger(world);
  return ledger.open === 0 && ledger;
};

test('an answer near the end of the window is a 201 or a 202, never both, and is charged and delivered once', async () => {
  let checked = 0;
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ state: fc.constantFrom(...NUMBERED_STATES), latency: fc.integer({ min: 200, max: 400 }) }), {
        minLength: 25,
        maxLength: 40,
      }),
      async (asks) => {
        const keys = await issueKeys(world, asks.length);
        const answers = await Promise.all(
          asks.map(async ({ state, latency }, i) => {
            const vatNumber = nextNumber(state);
            await world.vies.script(vatNumber, [{ kind: 'valid', latency_ms: latency }]);
            return call(keys[i] ?? '', vatNumber);
          }),
        );
        expect(world.apis.flatMap((api) => api.lines()).filter((line) => !line.includes(BUSY))).toEqual([]);
        expect(answers.filter(({ status }) => status !== 201 && status !== 202)).toEqual([]);
        const now201 = answers.filter(({ status }) => status === 201).length;
        checked += now201;
        accepted += answers.length - now201;
        await until('every request to end', noneOpen);
        const ledger = await readLedger(world);
        expect(ledger).toMatchObject({
          requests: checked + accepted,
          completed: checked + accepted,
          checks: checked + accepted,
          used: checked + accepted,
          reserved: 0,
          accepted,
          events: accepted,
          acceptedWithoutOneEvent: 0,
          needlessEvents: 0,
          unchargedChecks: 0,
        });
      },
    ),
    // Shrinking would run whole worlds of calls over and over.
    { numRuns: faultSize(4, 40), endOnFailure: true },
  );
  // Neither side of the race may win always, or the test shows nothing.
  expect(Math.min(checked, accepted)).toBeGreaterThan(5);
  reportFigure(`window race: ${checked} answered 201, ${accepted} answered 202`);
}, 600_000);
