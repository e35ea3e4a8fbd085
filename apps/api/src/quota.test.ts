import { uuidOf } from '@vat/domain';
import { startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

let world: World;
beforeAll(async () => {
  // Each call that gets a unit must get its check too, however busy the machine is.
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '15s' } });
});
afterAll(() => world?.stop());

const numbers = (count: number, from: number) => Array.from({ length: count }, (_, n) => `DE${from + n}`);
const monthPeriod = () => new Date().toISOString().slice(0, 7);
const monthEnd = () => {
  const now = new Date();
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString();
};

test('of 50 concurrent calls for 5 units exactly 5 are checked; the others are refused with the time to retry', async () => {
  const { account_id: id } = await world.newAccount({ quota: '5' });
  const caller = await crowd(world, id);
  const answers = await Promise.all(
    numbers(50, 200_000_000).map((vatNumber) => caller().post('/v1/checks', { vat_number: vatNumber })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(45);
  for (const { body } of refused) {
    expect(body).toEqual({ error: { code: 'QUOTA_EXCEEDED', message: expect.any(String), reset_at: monthEnd() } });
  }
  expect((await caller().get('/v1/usage')).body).toEqual({
    period: monthPeriod(),
    plan: 'business',
    limit: 5,
    used: 5,
    reserved: 0,
    reset_at: monthEnd(),
  });
  expect((await caller().get('/v1/checks')).body.data).toHaveLength(5);
  const [ledger] = await world.sql<{ units: number }>(
    `SELECT count(*)::int AS units FROM usage_entry JOIN "check" ON id = check_id WHERE usage_entry.account_id = $1`,
    [uuidOf('account', id)],
  );
  expect(ledger?.units).toBe(5);
});

test('an invalid number consumes one unit, although it needs two lookups', async () => {
  const { account_id: id } = await world.newAccount();
  const caller = await crowd(world, id);
  await world.vies.script('FR83404833049', ['invalid']);
  await caller().post('/v1/checks', { vat_number: 'FR83404833049', reference: 'twice' }).expect(201);
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 1, reserved: 0 });
});

test('a change of plan changes the limit within five seconds', async () => {
  const { account_id: id } = await world.newAccount({ plan: 'free' });
  // Enough keys for the calls that the test makes while it waits.
  const caller = await crowd(world, id, { keys: 100 });
  const usage = async () => (await caller().get('/v1/usage')).body;
  expect(await usage()).toMatchObject({ plan: 'free', limit: 100 });
  expect(await world.admin('account', 'set-plan', id, 'starter')).toEqual({ account_id: id, plan: 'starter' });
  await until('the new plan', async () => (await usage()).limit === 2_000, 5_000);
  expect((await usage()).plan).toBe('starter');
});
