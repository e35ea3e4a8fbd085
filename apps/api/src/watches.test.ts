import type { Plan } from '@vat/domain';
import { uuidOf } from '@vat/domain';
import { insertAccount, issueKeys, numberOf, startWorld, type TestAccount, until, type World } from '@vat/testkit';

let world: World;
beforeAll(async () => {
  // No worker runs the watches here: these tests are about the answers of calls.
  world = await startWorld({ workers: 0, apis: 2 });
});
afterAll(() => world?.stop());

type Body = Record<string, unknown>;
const UNKNOWN = 'wat_01h45ytscbebyvny4gc8cr8ma2';
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const customer = async (plan: Plan = 'business'): Promise<TestAccount> => {
  const account = await insertAccount(world);
  await world.sql('UPDATE account SET plan = $2 WHERE id = $1', [uuidOf('account', account.account_id), plan]);
  return account;
};
const post = ({ live_key: key }: TestAccount, body: Body) =>
  world.http(key).post('/v1/watches', { frequency: 'weekly', ...body });
const patch = ({ live_key: key }: TestAccount, id: string, body: Body) =>
  world.http(key).method('patch', `/v1/watches/${id}`).send(body);
const get = ({ live_key: key }: TestAccount, path = '') => world.http(key).get(`/v1/watches${path}`);
const codeOf = async (call: PromiseLike<{ status: number; body: { error?: { code: string } } }>) => {
  const { status, body } = await call;
  return [status, body.error?.code];
};
const made = async (who: TestAccount, body: Body): Promise<string> => (await post(who, body).expect(201)).body.watch_id;

test('a watch is created with exactly the documented fields, is due immediately, and reads back the same', async () => {
  const who = await customer();
  const answer = await post(who, {
    vat_number: 'de 136.695.976',
    label: 'supplier 7',
    frequency: 'daily',
    requester_vat_number: 'ATU13585627',
  });
  expect(answer.status).toBe(201);
  const { watch_id: id, created_at: createdAt } = answer.body;
  expect(Object.entries(answer.body)).toEqual([
    ['watch_id', expect.stringMatching(/^wat_[0-9a-z]{26}$/)],
    ['object', 'watch'],
    ['vat_number', 'DE136695976'],
    ['label', 'supplier 7'],
    ['frequency', 'daily'],
    ['status', 'active'],
    ['last_check_id', null],
    ['last_checked_at', null],
    ['missed_since', null],
    ['next_check_at', createdAt],
    ['created_at', expect.stringMatching(TIME)],
  ]);
  expect(answer.headers.location).toBe(`${world.baseUrl()}/v1/watches/${id}`);
  expect((await get(who, `/${id}`).expect(200)).body).toEqual(answer.body);
  expect((await get(who).expect(200)).body).toEqual({ data: [answer.body], next_cursor: null });
  expect((await get(who, `/${id}/changes`).expect(200)).body).toEqual({ data: [], next_cursor: null });
  const [row] = await world.sql('SELECT input, requester FROM watch WHERE id = $1', [uuidOf('watch', id)]);
  expect(row).toEqual({ input: 'de 136.695.976', requester: 'ATU13585627' });
});

test.each<[string, Body, number, string]>([
  ['a covered country, not its syntax', { vat_number: 'DE1' }, 400, 'INVALID_FORMAT'],
  ['a country that is not covered', { vat_number: 'GB123456789' }, 400, 'INVALID_FORMAT'],
  ['no country at all', { vat_number: '136695976' }, 400, 'INVALID_FORMAT'],
  ['nothing but separators', { vat_number: ' - ' }, 400, 'INVALID_FORMAT'],
  ['a country that contradicts', { vat_number: 'DE136695976', country_code: 'FR' }, 400, 'INVALID_FORMAT'],
  ['a test number of the sandbox', { vat_number: 'DE100' }, 400, 'INVALID_FORMAT'],
  ['no number', {}, 400, 'BAD_REQUEST'],
  ['an empty number', { vat_number: '' }, 400, 'BAD_REQUEST'],
  ['a number that is no text', { vat_number: 136695976 }, 400, 'BAD_REQUEST'],
  ['41 characters', { vat_number: 'DE136695976'.padEnd(41, ' ') }, 400, 'BAD_REQUEST'],
  ['an unknown frequency', { vat_number: 'DE136695976', frequency: 'hourly' }, 400, 'BAD_REQUEST'],
  ['no frequency', { vat_number: 'DE136695976', frequency: undefined }, 400, 'BAD_REQUEST'],
  ['an empty label', { vat_number: 'DE136695976', label: '' }, 400, 'BAD_REQUEST'],
  ['a label of 101 characters', { vat_number: 'DE136695976', label: 'x'.repeat(101) }, 400, 'BAD_REQUEST'],
  ['a label with a newline', { vat_number: 'DE136695976', label: 'a\nb' }, 400, 'BAD_REQUEST'],
  ['a surplus field', { vat_number: 'DE136695976', status: 'active' }, 400, 'BAD_REQUEST'],
  ['a requester that is none', { vat_number: 'DE136695976', requester_vat_number: 'x' }, 400, 'INVALID_REQUESTER'],
  ['a requester of a malformed number', { vat_number: 'DE1', requester_vat_number: 'x' }, 400, 'INVALID_FORMAT'],
])('%s is refused', async (_what, body, status, code) => {
  const who = await customer();
  const answer = await post(who, body);
  expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  expect(answer.body.error.message).not.toBe('');
  expect((await get(who)).body.data).toEqual([]);
});

test('a feature that the plan lacks is refused before its limit, and the limit is named', async () => {
  const free = await customer('free');
  expect(await codeOf(post(free, { vat_number: numberOf('DE', 1) }))).toEqual([403, 'FREQUENCY_NOT_ALLOWED']);
  const starter = await customer('starter');
  expect(await codeOf(post(starter, { vat_number: numberOf('DE', 1), frequency: 'daily' }))).toEqual([
    403,
    'FREQUENCY_NOT_ALLOWED',
  ]);
  await post(starter, { vat_number: numberOf('DE', 1), label: null }).expect(201);
});

test('a number is the same in any spelling', async () => {
  const who = await customer();
  await made(who, { vat_number: 'EL094259216' });
  for (const spelt of ['GR 094 259 216', 'el94259216', '094259216']) {
    expect(await codeOf(post(who, { vat_number: spelt, country_code: 'GR' }))).toEqual([409, 'WATCH_EXISTS']);
  }
  expect(await codeOf(post(await customer(), { vat_number: 'EL094259216' }))).toEqual([201, undefined]);
});

test('sixty concurrent calls over two processes make fifty watches with a limit of fifty', async () => {
  const who = await customer('starter');
  const keys = await issueKeys(world, 60, uuidOf('account', who.account_id) ?? '');
  const answers = await Promise.all(
    keys.map((key, n) =>
      fetch(`${String(world.apis[n % 2]?.ready.base_url)}/v1/watches`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ vat_number: numberOf('PL', n), frequency: 'weekly' }),
      }).then(async (response) => ({ status: response.status, body: (await response.json()) as Body })),
    ),
  );
  const refused = answers.filter(({ status }) => status !== 201);
  expect(refused).toHaveLength(10);
  for (const { status, body } of refused) {
    expect([status, body.error]).toEqual([403, { code: 'WATCH_LIMIT', message: expect.any(String), limit: 50 }]);
  }
  expect(
    await world.sql('SELECT 1 FROM watch WHERE account_id = $1', [uuidOf('account', who.account_id)]),
  ).toHaveLength(50);
});

test('twenty concurrent calls for one number make one watch', async () => {
  const who = await customer();
  const spelt = ['DE136695976', 'de 136 695 976', 'DE-136695976', 'DE136.695.976'];
  const codes = await Promise.all(
    Array.from({ length: 20 }, (_, n) => codeOf(post(who, { vat_number: spelt[n % spelt.length] }))),
  );
  expect(codes.filter(([status]) => status === 201)).toHaveLength(1);
  expect(codes.filter(([status, code]) => status === 409 && code === 'WATCH_EXISTS')).toHaveLength(19);
});

describe('an Idempotency-Key', () => {
  const send = (who: TestAccount, body: Body, key: string) => post(who, body).set('Idempotency-Key', key);

  test('makes one watch of twenty concurrent calls, and all of them get its answer', async () => {
    const who = await customer();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => send(who, { vat_number: 'DE136695976' }, 'crowd')),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(201);
    const replays = answers.filter(({ headers }) => headers['idempotency-replayed'] === 'true');
    expect(replays).toHaveLength(19);
    expect(new Set(answers.map(({ headers }) => headers.location)).size).toBe(1);
  });

  test('is replayed after the watch was deleted, and when the account could no longer create it', async () => {
    const who = await customer('starter');
    const first = await send(who, { vat_number: 'DE136695976' }, 'kept').expect(201);
    await world.http(who.live_key).method('delete', `/v1/watches/${first.body.watch_id}`).expect(204);
    await world.sql(`UPDATE account SET plan = 'free' WHERE id = $1`, [uuidOf('account', who.account_id)]);
    // The second process has not cached the key, so it sees the account as it is now.
    const call = async (key: Record<string, string>, body: Body) => {
      const response = await fetch(`${String(world.apis[1]?.ready.base_url)}/v1/watches`, {
        method: 'POST',
        headers: { ...key, authorization: `Bearer ${who.live_key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ frequency: 'weekly', ...body }),
      });
      return [response.status, await response.text()];
    };
    expect(await call({ 'idempotency-key': 'kept' }, { vat_number: 'DE136695976' })).toEqual([201, first.text]);
    expect(await call({}, { vat_number: 'DE136695976' })).toEqual([
      403,
      expect.stringContaining('FREQUENCY_NOT_ALLOWED'),
    ]);
    expect((await get(who)).body.data).toEqual([]);
  });

  test('with another body, or used for a check before, is a mismatch', async () => {
    const who = await customer();
    await send(who, { vat_number: 'DE136695976' }, 'mine').expect(201);
    expect(await codeOf(send(who, { vat_number: 'DE136695976', label: 'x' }, 'mine'))).toEqual([
      422,
      'IDEMPOTENCY_MISMATCH',
    ]);
    await world
      .http(who.live_key)
      .post('/v1/checks', { vat_number: 'DE1' })
      .set('Idempotency-Key', 'check')
      .expect(201);
    expect(await codeOf(send(who, { vat_number: 'FI20774740' }, 'check'))).toEqual([422, 'IDEMPOTENCY_MISMATCH']);
  });

  test('is not bound by a refusal', async () => {
    const who = await customer();
    await made(who, { vat_number: 'DE136695976' });
    expect(await codeOf(send(who, { vat_number: 'DE136695976' }, 'free'))).toEqual([409, 'WATCH_EXISTS']);
    expect(await codeOf(send(who, { vat_number: 'FI20774740' }, 'free'))).toEqual([201, undefined]);
  });
});

test('a test key is refused on every call before its body is validated', async () => {
  const { test_key: key } = await customer();
  const http = world.http(key);
  const calls = [
    http.post('/v1/watches', { nonsense: true }),
    http.get('/v1/watches'),
    http.get('/v1/watches?limit=x'),
    http.get(`/v1/watches/${UNKNOWN}`),
    http.method('patch', `/v1/watches/${UNKNOWN}`).send({ nonsense: true }),
    http.method('delete', `/v1/watches/${UNKNOWN}`),
    http.get(`/v1/watches/${UNKNOWN}/changes`),
  ];
  for (const call of calls) expect(await codeOf(call)).toEqual([403, 'TEST_KEY_NOT_ALLOWED']);
});

test('a disabled account cannot create a watch, is refused after its body is validated, and can still read', async () => {
  const who = await customer();
  const id = await made(who, { vat_number: 'DE136695976' });
  await world.sql('UPDATE account SET disabled_at = now() WHERE id = $1', [uuidOf('account', who.account_id)]);
  await until('calls to be refused', async () => (await post(who, { vat_number: 'FI20774740' })).status === 403, 5_000);
  expect(await codeOf(post(who, { vat_number: 'FI20774740' }))).toEqual([403, 'ACCOUNT_DISABLED']);
  expect(await codeOf(post(who, { vat_number: 'DE1' }))).toEqual([400, 'INVALID_FORMAT']);
  await get(who, `/${id}`).expect(200);
  await patch(who, id, { status: 'paused' }).expect(200);
});

test('watches are listed newest first, in pages that later ones do not change', async () => {
  const who = await customer();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) ids.unshift(await made(who, { vat_number: numberOf('HU', n) }));
  const first = (await get(who, '?limit=2').expect(200)).body;
  await made(who, { vat_number: numberOf('HU', 9) });
  const second = (await get(who, `?limit=2&cursor=${first.next_cursor}`).expect(200)).body;
  const third = (await get(who, `?limit=2&cursor=${second.next_cursor}`).expect(200)).body;
  const listed = [...first.data, ...second.data, ...third.data].map(({ watch_id: id }: Body) => id);
  expect([listed, third.next_cursor]).toEqual([ids, null]);
  for (const query of ['?limit=0', '?limit=101', '?cursor=x', '?frequency=daily'])
    expect(await codeOf(get(who, query))).toEqual([400, 'BAD_REQUEST']);
});

describe('PATCH', () => {
  test('labels, pauses and resumes, and does not change omitted fields', async () => {
    const who = await customer();
    const { body: watch } = await post(who, { vat_number: 'DE136695976', label: 'a' }).expect(201);
    const id = watch.watch_id;
    expect((await patch(who, id, { label: 'b' }).expect(200)).body).toEqual({ ...watch, label: 'b' });
    expect((await patch(who, id, { status: 'paused' }).expect(200)).body).toEqual({
      ...watch,
      label: 'b',
      status: 'paused',
    });
    expect((await patch(who, id, {}).expect(200)).body).toEqual({ ...watch, label: 'b', status: 'paused' });
    const resumed = (await patch(who, id, { status: 'active', label: null }).expect(200)).body;
    expect(resumed).toEqual({ ...watch, label: null, next_check_at: expect.stringMatching(TIME) });
    // A run that was due during the pause is made up for immediately.
    expect(Date.parse(resumed.next_check_at)).toBeGreaterThanOrEqual(Date.parse(watch.created_at));
    expect((await get(who, `/${id}`)).body).toEqual(resumed);
  });

  test.each<[Body]>([[{ status: 'gone' }], [{ frequency: 'hourly' }], [{ label: '' }], [{ vat_number: 'FI20774740' }]])(
    '%j is BAD_REQUEST and changes nothing',
    async (body) => {
      const who = await customer();
      const id = await made(who, { vat_number: 'DE136695976' });
      const before = (await get(who, `/${id}`)).body;
      expect(await codeOf(patch(who, id, body))).toEqual([400, 'BAD_REQUEST']);
      expect((await get(who, `/${id}`)).body).toEqual(before);
    },
  );

  test('is checked against the plan: a frequency that it lacks, and resuming beyond its limit', async () => {
    const who = await customer('starter');
    const id = await made(who, { vat_number: 'DE136695976' });
    expect(await codeOf(patch(who, id, { frequency: 'daily' }))).toEqual([403, 'FREQUENCY_NOT_ALLOWED']);
    await patch(who, id, { status: 'paused' }).expect(200);
    const account = uuidOf('account', who.account_id);
    // As after a change from a larger plan: fifty others are active.
    await world.sql(
      `INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at)
       SELECT gen_random_uuid(), $1, 'DE' || n, 'DE', n, n, 'weekly', 'active', now(), now() FROM generate_series(1, 50) n`,
      [account],
    );
    const refused = await patch(who, id, { status: 'active' });
    expect([refused.status, refused.body.error]).toEqual([
      403,
      { code: 'WATCH_LIMIT', message: expect.any(String), limit: 50 },
    ]);
    // Existing watches continue, and can be labelled and paused with any plan.
    await patch(who, id, { label: 'x', status: 'paused' }).expect(200);
    await world.sql(`DELETE FROM watch WHERE account_id = $1 AND vat_number = 'DE50'`, [account]);
    await patch(who, id, { status: 'active' }).expect(200);
  });
});

test('a watch is deleted with its changes, and its number can be watched again', async () => {
  const who = await customer();
  const id = await made(who, { vat_number: 'DE136695976' });
  await world.sql(
    `INSERT INTO watch_change (id, watch_id, kind, before, after, check_id, changed_at)
     SELECT gen_random_uuid(), $1, 'name', to_jsonb('A'::text), NULL, gen_random_uuid(), now()`,
    [uuidOf('watch', id)],
  );
  const [change] = (await get(who, `/${id}/changes`).expect(200)).body.data;
  expect(Object.entries(change)).toEqual([
    ['kind', 'name'],
    ['before', 'A'],
    ['after', null],
    ['check_id', expect.stringMatching(/^chk_/)],
    ['changed_at', expect.stringMatching(TIME)],
  ]);
  const gone = await world.http(who.live_key).method('delete', `/v1/watches/${id}`).expect(204);
  expect(gone.text).toBe('');
  expect(await codeOf(get(who, `/${id}/changes`))).toEqual([404, 'NOT_FOUND']);
  expect(await world.sql('SELECT 1 FROM watch_change WHERE watch_id = $1', [uuidOf('watch', id)])).toEqual([]);
  await made(who, { vat_number: 'DE136695976' });
});
