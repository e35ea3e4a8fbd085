import { startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

const NATIONALS = ['201', '202', '300', '301', '302', '400', '401', '500', '501', '600', '601'];
const SATURATED = new Map([
  ['500', 'GLOBAL_MAX_CONCURRENT_REQ'],
  ['501', 'GLOBAL_MAX_CONCURRENT_REQ'],
  ['600', 'MS_MAX_CONCURRENT_REQ'],
  ['601', 'MS_MAX_CONCURRENT_REQ'],
  ['700', 'MS_MAX_CONCURRENT_REQ'],
  ['701', 'MS_MAX_CONCURRENT_REQ'],
]);

let world: World;
let caller: () => ReturnType<World['http']>;
const accepted = new Map<string, { status: number; body: Record<string, string> & { checks: Entry[] } }>();

type Entry = { source: string; outcome: string; code?: string };

const check = (body: object) => caller().post('/v1/checks', body);
const checkAs = (national: string) => check({ vat_number: `DE${national}` }).set('Idempotency-Key', national);

beforeAll(async () => {
  // Test keys have fixed times: none of these settings may change them.
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '1s', BACKGROUND_GIVE_UP_AFTER: '1s' } });
  caller = await crowd(world, world.account.account_id, { test: true });
  await world.vies.answerAll('reset');
  await Promise.all(
    [...NATIONALS, '700', '701'].map(async (national) => {
      const { status, body } = await checkAs(national);
      accepted.set(national, { status, body });
    }),
  );
});
afterAll(() => world?.stop());

const requestOf = (national: string) => accepted.get(national)?.body.request_id ?? '';
const ended = (national: string) =>
  until(`${national} to end`, async () => {
    const { body } = await caller().get(`/v1/requests/${requestOf(national)}`);
    return body.status !== 'pending' && body;
  });
/** The only event of a request, and when it was written, which is when the request ended. */
const eventOf = async (requestId: string) => {
  const rows = await world.sql<{ body: string; at: Date }>(
    `SELECT body, created_at AS at FROM event WHERE body::jsonb ->> 'request_id' = $1`,
    [requestId],
  );
  expect(rows).toHaveLength(1);
  return { body: JSON.parse(rows[0]?.body ?? ''), at: rows[0]?.at.getTime() ?? 0 };
};
const expectAcceptedAfterTwoSeconds = (request: { created_at: string; accepted_at: string }) => {
  const waitedMs = Date.parse(request.accepted_at) - Date.parse(request.created_at);
  expect(Math.abs(waitedMs - 2_000)).toBeLessThan(700);
};

test.each(NATIONALS)('%s is answered 202 after two seconds and abandoned five later', async (national) => {
  const answer = accepted.get(national);
  expect(answer?.status).toBe(202);
  expect(answer?.body).toMatchObject({ test: true, status: 'pending' });
  const vies = answer?.body.checks.find(({ source }) => source === 'vies');
  expect(vies?.outcome).not.toMatch(/valid|malformed/);
  if (SATURATED.has(national)) expect(vies).toMatchObject({ outcome: 'saturated', code: SATURATED.get(national) });
  const request = await ended(national);
  expectAcceptedAfterTwoSeconds(request);
  expect(request).toMatchObject({ test: true, status: 'abandoned', reason: 'UPSTREAM_NO_ANSWER', check: null });
  expect(Date.parse(request.give_up_at) - Date.parse(request.accepted_at)).toBe(5_000);
  const event = await eventOf(request.id);
  expect(event.body).toMatchObject({ event: 'check.failed', test: true, request_id: request.id });
  const lateMs = event.at - Date.parse(request.give_up_at);
  expect(lateMs).toBeGreaterThanOrEqual(0);
  expect(lateMs).toBeLessThan(1_500);
});

test.each([
  ['700', true, 'valid'],
  ['701', false, 'invalid'],
])('%s is saturated, and in the background after three seconds valid: %s', async (national, valid, verdict) => {
  const answer = accepted.get(national);
  expect(answer?.status).toBe(202);
  expect(answer?.body.checks).toContainEqual(
    expect.objectContaining({ source: 'vies', outcome: 'saturated', code: 'MS_MAX_CONCURRENT_REQ' }),
  );
  const request = await ended(national);
  expectAcceptedAfterTwoSeconds(request);
  expect(request).toMatchObject({ test: true, status: 'completed', check: { test: true, valid, verdict } });
  const event = await eventOf(request.id);
  expect(Object.keys(event.body)[0]).toBe('event');
  expect(event.body).toEqual({
    event: 'check.completed',
    test: true,
    request_id: request.id,
    check: (await caller().get(`/v1/checks/${request.check.id}`)).body,
  });
  const tookMs = event.at - Date.parse(request.accepted_at);
  expect(tookMs).toBeGreaterThan(2_500);
  expect(tookMs).toBeLessThan(4_500);
});

test.each([
  [{ vat_number: 'DE100' }, 'DE100', 'valid'],
  [{ vat_number: 'FR 200' }, 'FR200', 'invalid'],
  [{ vat_number: '100', country_code: 'GR' }, 'EL100', 'valid'],
  [{ vat_number: 'ATU13585627' }, 'ATU13585627', 'valid'],
  [{ vat_number: 'DE123' }, 'DE123', 'malformed'],
])('%j is answered immediately as %s, %s', async (body, vatNumber, verdict) => {
  const answer = await check(body);
  expect(answer.status).toBe(201);
  expect(answer.body).toMatchObject({ test: true, vat_number: vatNumber, verdict, valid: verdict === 'valid' });
  if (verdict === 'valid') expect(answer.body.name).toMatch(/sandbox/i);
});

test('a number of an unsupported country is refused as with a live key', async () => {
  const { status, body } = await check({ vat_number: 'GB100' });
  expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
});

test('a 202 whose stored answer was lost is repeated after its request was abandoned, unless the account was disabled', async () => {
  await ended('301');
  // The state after an API process has died between accepting the request and storing its answer.
  const loseAnswer = () =>
    world.sql(`UPDATE idempotency_key SET status = NULL, body = NULL, locked_until = now() WHERE key LIKE '%301'`);
  await loseAnswer();
  const again = await checkAs('301');
  expect(again.status).toBe(202);
  expect(again.headers['idempotency-replayed']).toBe('true');
  const { checks: _checks, ...promise } = accepted.get('301')?.body ?? { checks: [] };
  expect(promise).toMatchObject({ request_id: requestOf('301'), status: 'pending' });
  expect(again.body).toMatchObject(promise);
  await loseAnswer();
  await world.sql(`UPDATE request SET reason = 'ACCOUNT_DISABLED' WHERE vat_number = 'DE301'`);
  const { status, body } = await checkAs('301');
  expect([status, body.error.code]).toEqual([403, 'ACCOUNT_DISABLED']);
});

test('test keys consume no units and never reach the upstream', async () => {
  await Promise.all([...accepted.keys()].map(ended));
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 0, reserved: 0 });
  expect(await world.vies.journal()).toEqual([]);
});

test('with a live key a sandbox number is malformed', async () => {
  const { status, body } = await world.http().post('/v1/checks', { vat_number: 'DE700' });
  expect([status, body.verdict]).toEqual([201, 'malformed']);
  expect(body).not.toHaveProperty('test');
});

test('answers of the sandbox neither delay live lookups nor appear in the status', async () => {
  await world.vies.answerAll(null);
  const live = 'DE136695976';
  const calls: Promise<unknown>[] = [];
  // Each is looked up three times within two seconds: a pause caused by them would never end.
  const storm = (what: string, seen: () => Promise<boolean>) =>
    until(
      what,
      () => {
        calls.push(check({ vat_number: 'DE500' }).then());
        return seen();
      },
      3_000,
    );
  await storm('the sandbox to be asked', async () => {
    const asked = `SELECT 1 FROM request WHERE vat_number = 'DE500' AND state = 'waiting' AND attempts > 0`;
    return (await world.sql(asked)).length > 0;
  });
  calls.push(world.http().post('/v1/checks', { vat_number: live }).then());
  await storm('the live call to be asked', async () => (await world.vies.journal(live)).length > 0);
  await Promise.all(calls);
  const [worker] = world.workers;
  const figures = await (await fetch(`http://127.0.0.1:${String(worker?.ready.metrics_port)}/metrics`)).text();
  expect(figures).toMatch(/vat_upstream_ask_seconds_count\{[^}]*outcome="verdict"/);
  expect(figures).not.toMatch(/vat_upstream_ask_seconds_count\{[^}]*outcome="saturated"/);
});
