import { statusSchema } from '@vat/contracts';
import { startWorld, until, type World } from '@vat/testkit';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

type State = {
  member_state: string;
  health: string;
  asks: number;
  answered: number | null;
  saturated: number | null;
  queue_depth: number;
  oldest_wait_ms: number | null;
  oldest_waits_ms: Record<string, number | null>;
  p50_ms: number | null;
};
const stateOf = async (code: string): Promise<State | undefined> => {
  const { body } = await world.http().get('/v1/status').expect(200);
  return (body.member_states as State[]).find((state) => state.member_state === code);
};

test('every member state has an entry, and one without lookups is unknown', async () => {
  const { body } = await world.http().get('/v1/status').expect(200);
  expect(statusSchema.safeParse(body).error).toBeUndefined();
  expect(body.member_states).toHaveLength(28);
  expect(await stateOf('MT')).toMatchObject({ health: 'unknown', asks: 0, answered: null, queue_depth: 0 });
});

test('what the workers observed is shown a few seconds later, by member state', async () => {
  await world.http().post('/v1/checks', { vat_number: 'FR40303265045' }).expect(201);
  await world.vies.state('HU', { answer: { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' } });
  await world.http().post('/v1/checks', { vat_number: 'HU12892312' }).expect(202);
  const seen = await until(
    'the figures of both',
    async () => {
      const [france, hungary] = [await stateOf('FR'), await stateOf('HU')];
      return france && france.asks > 0 && hungary && hungary.asks > 0 && { france, hungary };
    },
    15_000,
  );
  expect(seen.france).toMatchObject({ health: 'ok', answered: 1, saturated: 0, p50_ms: expect.any(Number) });
  expect(seen.hungary).toMatchObject({ health: 'down', answered: 0, saturated: 1 });
});

test('a member state whose slots are taken shows how many requests wait, and how long', async () => {
  await world.vies.state('PL', { answer: { kind: 'hang' } });
  // A supertest call begins when it is awaited.
  // More than are seen: one whose lookup was cut off waits for the time of its next one.
  const calls = Array.from({ length: 8 }, async (_, n) =>
    world.http().post('/v1/checks', { vat_number: `PL${5_260_001_246 + n}` }),
  );
  const waiting = await until('a queue', async () => {
    const state = await stateOf('PL');
    return state && state.queue_depth >= 3 && state;
  });
  expect(waiting.oldest_wait_ms).toBeGreaterThanOrEqual(0);
  const byClass = Object.values(waiting.oldest_waits_ms).filter((ms) => ms !== null);
  expect(Math.max(...byClass)).toBe(waiting.oldest_wait_ms);
  await Promise.all(calls);
});
