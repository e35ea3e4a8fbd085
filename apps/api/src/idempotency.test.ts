import { startWorld, type TestProcess, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';

let world: World;
let second: TestProcess;
let caller: () => ReturnType<World['http']>;
beforeAll(async () => {
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '10s', UPSTREAM_ATTEMPT_TIMEOUT: '8s' } });
  second = await world.startApi({}, { ownProcess: true });
  caller = await crowd(world, world.account.account_id);
});
afterAll(() => world?.stop());

const post = (body: object, key: string) => caller().post('/v1/checks', body).set('Idempotency-Key', key);
const askedFor = async (vatNumber: string) => (await world.vies.journal(vatNumber)).length;

test('a hundred concurrent identical calls make one check and one lookup and consume one unit', async () => {
  const before = (await caller().get('/v1/usage')).body.used;
  await world.vies.script('DE136695976', [{ kind: 'valid', latency_ms: 500 }]);
  const answers = await Promise.all(Array.from({ length: 100 }, () => post({ vat_number: 'DE136695976' }, 'crowd')));
  const made = answers.filter(({ status }) => status === 201);
  const busy = answers.filter(({ status }) => status === 409);
  expect(answers.filter(({ status }) => status !== 201 && status !== 409).map(({ text }) => text)).toEqual([]);
  expect(made.length).toBeGreaterThan(0);
  expect(new Set(made.map(({ text }) => text)).size).toBe(1);
  for (const { body, headers } of busy) {
    expect(body.error).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', message: expect.any(String) });
    expect(body.error.retry_after).toBeGreaterThan(0);
    expect(headers['retry-after']).toBe(String(body.error.retry_after));
  }
  expect(await askedFor('DE136695976')).toBe(1);
  expect((await caller().get('/v1/checks?vat_number=DE136695976')).body.data).toHaveLength(1);
  expect((await caller().get('/v1/usage')).body).toMatchObject({ used: before + 1, reserved: 0 });
});

test('a replay is the first answer, byte for byte, and is marked as a replay', async () => {
  const first = await post({ vat_number: 'ATU13585627', reference: 'x' }, 'replayed');
  expect(first.status).toBe(201);
  expect(first.headers).not.toHaveProperty('idempotency-replayed');
  const again = await post({ vat_number: 'ATU13585627', reference: 'x' }, 'replayed');
  expect(again.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(again.headers).toMatchObject({
    'idempotency-replayed': 'true',
    location: first.headers.location,
    'content-type': first.headers['content-type'],
  });
  expect(again.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
  expect(await askedFor('ATU13585627')).toBe(1);
});

test('a malformed number is replayed too', async () => {
  const first = await post({ vat_number: 'DE1' }, 'malformed');
  const again = await post({ vat_number: 'DE1' }, 'malformed');
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
  expect(again.headers['idempotency-replayed']).toBe('true');
});

test('order of keys and white space do not make another call', async () => {
  const send = (text: string) =>
    caller().post('/v1/checks').set('Idempotency-Key', 'canonical').set('Content-Type', 'application/json').send(text);
  const first = await send('{"vat_number":"FI20774740","reference":"é"}');
  const again = await send('{ "reference" : "\\u00e9",\n"vat_number": "FI20774740" }');
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
});

test('another spelling of the path does not make another call', async () => {
  const send = (path: string) => caller().post(path, { vat_number: 'DE6' }).set('Idempotency-Key', 'spelling');
  const first = await send('/v1/checks');
  for (const path of ['/v1/checks/', '/V1/Checks']) {
    const again = await send(path);
    expect([path, again.status, again.text]).toEqual([path, 201, first.text]);
  }
});

test('another body under the same key is a mismatch', async () => {
  await post({ vat_number: 'DE2' }, 'taken').expect(201);
  const { status, body } = await post({ vat_number: 'DE3' }, 'taken');
  expect([status, body.error.code]).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
  const reference = await post({ vat_number: 'DE2', reference: 'r' }, 'taken');
  expect(reference.status).toBe(422);
});

test('the scope of a key is the account', async () => {
  const other = await world.newAccount();
  const mine = await post({ vat_number: 'DE4' }, 'shared');
  const theirs = await world
    .http(other.live_key)
    .post('/v1/checks', { vat_number: 'DE5' })
    .set('Idempotency-Key', 'shared');
  expect([mine.status, theirs.status]).toEqual([201, 201]);
  expect(theirs.headers).not.toHaveProperty('idempotency-replayed');
});

test.each([
  ['', 'empty'],
  ['x'.repeat(256), 'too long'],
  ['caf\u00e9', 'not printable ASCII'],
])('the key %j is refused: %s', async (key) => {
  const { status, body } = await post({ vat_number: 'DE1' }, key);
  expect([status, body.error?.code]).toEqual([400, 'BAD_REQUEST']);
  expect(body.error.fields).toEqual([{ path: 'Idempotency-Key', message: expect.any(String) }]);
});

test('keys of 1 and of 255 characters are accepted', async () => {
  expect((await post({ vat_number: 'DE1' }, 'k')).status).toBe(201);
  expect((await post({ vat_number: 'DE1' }, 'k'.repeat(255))).status).toBe(201);
});

test('a body with lone surrogates is not an internal error', async () => {
  const send = () =>
    caller()
      .post('/v1/checks')
      .set('Idempotency-Key', 'surrogates')
      .set('Content-Type', 'application/json')
      .send('{"vat_number":"DE1\\ud800","reference":"a\\udfff"}');
  const [first, again] = [await send(), await send()];
  expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
});

test('errors are not stored: the key can be used afterwards', async () => {
  expect((await post({ vat_number: 'GB123456789' }, 'after-error')).status).toBe(400);
  await world.vies.script('LU12345613', [{ kind: 'error', code: 'INVALID_REQUESTER_INFO' }, 'valid']);
  const refused = await post({ vat_number: 'LU12345613', requester_vat_number: 'BE0428759497' }, 'after-error');
  expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_REQUESTER']);
  const made = await post({ vat_number: 'LU12345613' }, 'after-error');
  expect(made.status).toBe(201);
  expect(made.headers).not.toHaveProperty('idempotency-replayed');
});

/** Kills an API process once the lookup of a call to it has reached the upstream; the call is never answered. */
const killDuring = async (api: TestProcess, body: { vat_number: string }, key: string): Promise<void> => {
  const headers = {
    authorization: `Bearer ${world.account.live_key}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const call = fetch(`${String(api.ready.base_url)}/v1/checks`, init).then(
    () => 'answered',
    () => 'cut',
  );
  await until('the ask', async () => (await askedFor(body.vat_number)) === 1);
  api.signal('SIGKILL');
  expect(await call).toBe('cut');
};

test('a call whose process is killed is resumed by the next call: same request, one lookup, a short lock', async () => {
  await world.vies.script('HU12892312', [{ kind: 'valid', latency_ms: 1_500 }]);
  const body = { vat_number: 'HU12892312' };
  await killDuring(second, body, 'killed');

  const early = await post(body, 'killed');
  expect([early.status, early.body.error?.code]).toEqual([409, 'IDEMPOTENCY_IN_PROGRESS']);
  const [lock] = await world.sql<{ seconds: number; request_id: string }>(
    `SELECT extract(epoch FROM locked_until - created_at)::float8 AS seconds, request_id FROM idempotency_key WHERE key = 'live:killed'`,
  );
  expect(lock?.seconds).toBeLessThanOrEqual(60);
  // The end of the lock is moved forward instead of waiting for it.
  await world.sql(`UPDATE idempotency_key SET locked_until = now() WHERE key = 'live:killed'`);

  const answers = await Promise.all(Array.from({ length: 5 }, () => post(body, 'killed')));
  for (const { status } of answers) expect([201, 409]).toContain(status);
  const made = answers.filter(({ status }) => status === 201);
  expect(made.length).toBeGreaterThan(0);
  const replay = await post(body, 'killed');
  expect(replay.headers['idempotency-replayed']).toBe('true');
  expect(new Set([replay, ...made].map(({ text }) => text)).size).toBe(1);
  expect(await askedFor('HU12892312')).toBe(1);
  expect((await caller().get('/v1/checks?vat_number=HU12892312')).body.data).toHaveLength(1);
  const requests = await world.sql<{ id: string }>(`SELECT id FROM request WHERE vat_number = 'HU12892312'`);
  expect(requests).toEqual([{ id: lock?.request_id }]);
});

test('work that was recorded after its process was killed is replayed immediately, however long the lock', async () => {
  await world.vies.script('HU10766172', [{ kind: 'valid', latency_ms: 500 }]);
  await killDuring(await world.startApi({}, { ownProcess: true }), { vat_number: 'HU10766172' }, 'recorded');
  const { body: list } = await until('the check', async () => {
    const seen = await caller().get('/v1/checks?vat_number=HU10766172');
    return seen.body.data.length === 1 && seen;
  });
  const replay = await post({ vat_number: 'HU10766172' }, 'recorded');
  expect([replay.status, replay.body.id]).toEqual([201, list.data[0].id]);
  expect(replay.headers['idempotency-replayed']).toBe('true');
  expect(await askedFor('HU10766172')).toBe(1);
});

test('a live call is never answered with the answer of a test call with the same Idempotency-Key', async () => {
  const test = await world
    .http(world.account.test_key)
    .post('/v1/checks', { vat_number: 'DE136695976' })
    .set('Idempotency-Key', 'both modes');
  expect(test.body).toMatchObject({ test: true, valid: true });
  const live = await post({ vat_number: 'DE136695976' }, 'both modes');
  expect(live.status).toBe(201);
  expect(live.headers).not.toHaveProperty('idempotency-replayed');
  expect(live.body).not.toHaveProperty('test');
});

test('a test call is never answered with the answer of a live call with the same Idempotency-Key', async () => {
  const live = await post({ vat_number: 'ATU13585627' }, 'live first');
  const test = await world
    .http(world.account.test_key)
    .post('/v1/checks', { vat_number: 'ATU13585627' })
    .set('Idempotency-Key', 'live first');
  expect([live.status, test.status, test.body.test]).toEqual([201, 201, true]);
  expect(test.headers).not.toHaveProperty('idempotency-replayed');
  expect(test.body.id).not.toBe(live.body.id);
});
