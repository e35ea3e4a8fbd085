import { startWorld, type TestAccount, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

const GIVE_UP_MS = 2_000;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };

let world: World;
let other: TestAccount;
let caller: () => ReturnType<World['http']>;
beforeAll(async () => {
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '500ms', BACKGROUND_GIVE_UP_AFTER: `${GIVE_UP_MS}ms` } });
  other = await world.newAccount();
  caller = await crowd(world, world.account.account_id);
});
afterAll(() => world?.stop());

const accept = async (vatNumber: string) => {
  await world.vies.script(vatNumber, [DOWN]);
  const { status, body } = await caller().post('/v1/checks', { vat_number: vatNumber });
  expect(status).toBe(202);
  return body;
};
const show = async (id: string) => (await caller().get(`/v1/requests/${id}`).expect(200)).body;
const lookedUp = (id: string) =>
  until(`a lookup of ${id}`, async () => {
    const body = await show(id);
    return body.attempts > 0 && body;
  });
const ended = (id: string) =>
  until(`${id} to end`, async () => {
    const body = await show(id);
    return body.status !== 'pending' && body;
  });
const events = (requestId: string) =>
  world.sql<{ type: string; body: string }>(`SELECT type, body FROM event WHERE body::jsonb ->> 'request_id' = $1`, [
    requestId,
  ]);

test('a 202 says where to poll, when the request was accepted and when it will be abandoned', async () => {
  const body = await accept('DE136695976');
  expect(Object.keys(body).sort()).toEqual(['accepted_at', 'checks', 'give_up_at', 'poll_url', 'request_id', 'status']);
  expect(body).toMatchObject({ status: 'pending', accepted_at: expect.stringMatching(TIME) });
  expect(body.poll_url).toBe(`${world.baseUrl()}/v1/requests/${body.request_id}`);
  // The time runs from the first lookup, which a busy machine makes only after the 202.
  const [first] = await until('the first lookup', async () => {
    const lookups = await world.vies.journal('DE136695976');
    return lookups.length > 0 && lookups;
  });
  const { give_up_at, created_at } = await lookedUp(body.request_id);
  const lookedUpAt = Date.parse(give_up_at) - GIVE_UP_MS;
  expect(lookedUpAt).toBeGreaterThanOrEqual(Date.parse(created_at));
  expect(lookedUpAt).toBeLessThanOrEqual(Math.ceil(first?.at ?? 0));
});

test('a pending request shows its state, and a completed one its check; one event reports the same', async () => {
  const accepted = await accept('ATU13585627');
  const pending = await lookedUp(accepted.request_id);
  expect(pending).toEqual({
    id: accepted.request_id,
    object: 'request',
    status: 'pending',
    vat_number: 'ATU13585627',
    created_at: expect.stringMatching(TIME),
    accepted_at: accepted.accepted_at,
    give_up_at: expect.stringMatching(TIME),
    attempts: expect.any(Number),
    next_attempt_at: expect.stringMatching(TIME),
    last_error: 'MS_UNAVAILABLE',
    reason: null,
    check: null,
  });
  expect(pending.attempts).toBeGreaterThan(0);
  expect(await events(accepted.request_id)).toEqual([]);

  await world.vies.script('ATU13585627', ['valid']);
  const done = await ended(accepted.request_id);
  expect(done).toMatchObject({ status: 'completed', next_attempt_at: null, reason: null });
  expect(done.check).toEqual((await caller().get(`/v1/checks/${done.check.id}`)).body);
  expect(done.check.request_id).toBe(accepted.request_id);
  const [event, ...more] = await events(accepted.request_id);
  expect(more).toEqual([]);
  const body = JSON.parse(event?.body ?? '');
  expect(Object.keys(body)).toEqual(['event', 'request_id', 'check']);
  expect(body).toEqual({ event: 'check.completed', request_id: accepted.request_id, check: done.check });
});

test('a request without an answer is abandoned in time, releases its unit and sends one event', async () => {
  const before = (await caller().get('/v1/usage')).body;
  const accepted = await accept('FR83404833048');
  expect((await caller().get('/v1/usage')).body.reserved).toBeGreaterThan(0);
  const done = await ended(accepted.request_id);
  const late = Date.now() - Date.parse(done.give_up_at);
  expect(late).toBeGreaterThanOrEqual(0);
  expect(late).toBeLessThan(1_500);
  expect(done).toMatchObject({
    status: 'abandoned',
    reason: 'UPSTREAM_NO_ANSWER',
    last_error: 'MS_UNAVAILABLE',
    next_attempt_at: null,
    check: null,
  });
  await until('every unit to be given back', async () => (await caller().get('/v1/usage')).body.reserved === 0);
  expect((await caller().get('/v1/usage')).body.used).toBe(before.used);
  const asked = (await world.vies.journal('FR83404833048')).length;
  const [event, ...more] = await events(accepted.request_id);
  expect(more).toEqual([]);
  const body = JSON.parse(event?.body ?? '');
  expect(body).toEqual({
    event: 'check.failed',
    request_id: accepted.request_id,
    reason: 'UPSTREAM_NO_ANSWER',
    last_error: 'MS_UNAVAILABLE',
  });
  expect(Object.keys(body)[0]).toBe('event');
  // The upstream recovers too late.
  await world.vies.script('FR83404833048', ['valid']);
  await world.admin('reconcile');
  expect((await show(accepted.request_id)).status).toBe('abandoned');
  expect((await world.vies.journal('FR83404833048')).length).toBe(asked);
});

test('a request in the background holds its unit, and releases it when it is abandoned', async () => {
  const { account_id: id } = await world.newAccount({ quota: '1' });
  const caller = await crowd(world, id);
  await world.vies.script('ATU13585628', [DOWN]);
  const accepted = await caller().post('/v1/checks', { vat_number: 'ATU13585628' });
  expect(accepted.status).toBe(202);
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: 0, reserved: 1 });
  const second = await caller().post('/v1/checks', { vat_number: 'FI20774740' });
  expect([second.status, second.body.error.code]).toEqual([429, 'QUOTA_EXCEEDED']);
  await until('the unit to be given back', async () => (await caller().get('/v1/usage')).body.reserved === 0);
  expect((await caller().get('/v1/usage')).body.used).toBe(0);
  const third = await caller().post('/v1/checks', { vat_number: 'FI20774740' });
  expect([201, 202]).toContain(third.status);
});

test('a 202 is replayed as it was, also after the request has ended', async () => {
  await world.vies.script('DK13585628', [DOWN]);
  const call = () => caller().post('/v1/checks', { vat_number: 'DK13585628' }).set('Idempotency-Key', 'accepted');
  const first = await call();
  expect(first.status).toBe(202);
  await world.vies.script('DK13585628', ['valid']);
  await ended(first.body.request_id);
  const again = await call();
  expect([again.status, again.text]).toEqual([202, first.text]);
  expect(again.headers).toMatchObject({
    'idempotency-replayed': 'true',
    location: first.headers.location,
    'retry-after': first.headers['retry-after'],
  });
});

test('a 201 sends no event', async () => {
  const { status, body } = await caller().post('/v1/checks', { vat_number: 'NL123456789B01' });
  expect(status).toBe(201);
  expect(await events(body.request_id)).toEqual([]);
  expect(await show(body.request_id)).toMatchObject({
    status: 'completed',
    accepted_at: null,
    give_up_at: null,
    check: body,
  });
});

test("another account's request and check are 404 like unknown ones", async () => {
  const { body } = await caller().post('/v1/checks', { vat_number: 'EL094259216' }).expect(201);
  const stranger = world.http(other.live_key);
  const refused = await Promise.all(
    [
      `/v1/requests/${body.request_id}`,
      `/v1/checks/${body.id}`,
      `/v1/checks/${body.id}/evidence`,
      `/v1/requests/${body.id}`,
    ].map(async (path) => (await stranger.get(path)).body),
  );
  const unknown = await Promise.all(
    [
      `/v1/requests/${body.id}`,
      `/v1/requests/req_00000000000000000000000000`,
      `/v1/requests/req_${'z'.repeat(26)}`,
      `/v1/requests/${body.request_id.toUpperCase()}`,
      `/v1/requests/${body.request_id}x`,
      '/v1/requests/1',
      '/v1/requests/%00',
      '/v1/requests/%ff',
      '/v1/checks/..%2f..%2fhealthz',
      `/v1/checks/${body.request_id}`,
    ].map(async (path) => {
      const answer = await caller().get(path);
      return [path, answer.status, answer.body.error?.code];
    }),
  );
  expect(new Set(refused.map((answer) => JSON.stringify(answer))).size).toBe(1);
  expect(refused[0]).toMatchObject({ error: { code: 'NOT_FOUND' } });
  for (const answer of unknown) expect(answer).toEqual([answer[0], 404, 'NOT_FOUND']);
});
