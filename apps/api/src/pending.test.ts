import { newUuid, uuidOf } from '@vat/domain';
import { startWorld, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

const MOST = 200;
const RACING = 20;
const ROOM = 6;

let world: World;
let caller: () => ReturnType<World['http']>;
let account: string;
let answers: { status: number; body: { error: Record<string, unknown> }; headers: Record<string, string> }[];

const pending = async () =>
  (
    await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM request WHERE account_id = $1 AND state = 'pending'`,
      [account],
    )
  )[0]?.n;

beforeAll(async () => {
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '1s', BACKGROUND_RETRY_DELAYS: '10m' } });
  caller = await crowd(world, world.account.account_id);
  account = uuidOf('account', world.account.account_id) ?? '';
  await world.sql(
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, accepted_at, give_up_at, due_at)
     SELECT id, $1, false, 'pending', 'DE136695976', 'DE', '136695976', 'DE136695976', '[]', now(), now(),
       now(), now() + interval '1 day', now() + interval '1 hour'
     FROM unnest($2::uuid[]) AS id`,
    [account, Array.from({ length: MOST - ROOM }, newUuid)],
  );
  await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
  answers = await Promise.all(
    Array.from({ length: RACING }, async (_, n) => caller().post('/v1/checks', { vat_number: `DE${300_000_000 + n}` })),
  );
});
afterAll(() => world?.stop());

test('calls that become pending concurrently never exceed 200 pending requests', async () => {
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(ROOM);
  expect(await pending()).toBe(MOST);
});

test('calls beyond the limit are refused with the attempts that were made, and hold no unit', async () => {
  const refused = answers.filter(({ status }) => status !== 202);
  expect(refused).toHaveLength(RACING - ROOM);
  for (const { status, body, headers } of refused) {
    expect(status).toBe(429);
    expect(body.error).toMatchObject({ code: 'TOO_MANY_PENDING', pending: MOST, checks: expect.any(Array) });
    expect(body.error.retry_after).toBeGreaterThan(0);
    expect(headers['retry-after']).toBe(String(body.error.retry_after));
  }
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 0, reserved: ROOM });
});

test('a call while 200 requests are pending is refused immediately, without a lookup', async () => {
  const startedAt = performance.now();
  const { status, body, headers } = await caller().post('/v1/checks', { vat_number: 'FR83404833048' });
  expect(performance.now() - startedAt).toBeLessThan(900);
  expect(status).toBe(429);
  expect(body.error).toMatchObject({ code: 'TOO_MANY_PENDING', pending: MOST });
  expect(headers['retry-after']).toBe(String(body.error.retry_after));
  expect(await world.vies.journal('FR83404833048')).toEqual([]);
});

test('the Idempotency-Key of a refused call can be used by another call', async () => {
  const key = 'refused-at-200';
  const call = () => caller().post('/v1/checks', { vat_number: 'FR83404833048' }).set('Idempotency-Key', key);
  expect((await call()).body.error.code).toBe('TOO_MANY_PENDING');
  expect((await call()).body.error.code).toBe('TOO_MANY_PENDING');
  const other = await caller().post('/v1/checks', { vat_number: 'DE1' }).set('Idempotency-Key', key);
  expect(other.status).toBe(201);
});

test('a malformed number is still answered, and lists still work', async () => {
  const { status, body } = await caller().post('/v1/checks', { vat_number: 'DE12' });
  expect([status, body.verdict]).toEqual([201, 'malformed']);
  await caller().get('/v1/checks').expect(200);
});

test('the pending requests of other accounts do not count', async () => {
  const other = await world.newAccount();
  await world.vies.answerAll(null);
  const { status } = await world.http(other.live_key).post('/v1/checks', { vat_number: 'NL123456789B01' });
  expect(status).toBe(201);
});
