import { openWorldRedis, startWorld, type TestProcess, until, type World, type WorldRedis } from '@vat/testkit';
import { type Browser, openBrowser, setCookieOf } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';

const PASSWORD = 'a few words are good';

let world: World;
let redis: WorldRedis;
let closed: TestProcess;
let made = 0;
beforeAll(async () => {
  // Calls send X-Forwarded-For, as behind a proxy: each test has its own network.
  world = await startWorld({ workers: 0, settings: { SIGNUP: 'open', TRUSTED_PROXIES: '127.0.0.0/8' } });
  redis = await openWorldRedis(world);
  closed = await world.startApi({ SIGNUP: 'closed' });
});
afterAll(async () => {
  redis?.close();
  await world?.stop();
});

const newNetwork = (): string => {
  made += 1;
  return `198.51.100.${made}`;
};
const newEmail = (): string => {
  made += 1;
  return `new${made}@example.com`;
};
const browser = (baseUrl = world.baseUrl()): Browser => openBrowser(baseUrl);
const signUp = (body: object, from = newNetwork(), by = browser()) =>
  by.call('post', '/sign-up', body).set('X-Forwarded-For', from);
const account = (email = newEmail()) => ({ name: 'Müller & Söhne', email, password: PASSWORD });

test('opens an account on the free plan, signed in, with a live and a test key that work', async () => {
  const email = newEmail();
  const by = browser();
  const answer = await signUp(account(` ${email.toUpperCase()} `), newNetwork(), by);
  const { status, body } = answer;
  expect([status, body]).toEqual([
    201,
    {
      csrf_token: expect.stringMatching(/^[\w-]{43}$/),
      account: {
        account_id: expect.stringMatching(/^acc_/),
        name: 'Müller & Söhne',
        email,
        role: 'owner',
        plan: 'free',
        allowance: { checks_per_month: 100, watches: 0, frequencies: [] },
        disabled: false,
      },
      live_key: expect.stringMatching(/^vat_live_/),
      test_key: expect.stringMatching(/^vat_test_/),
    },
  ]);
  by.cookie = setCookieOf(answer).split(';')[0] ?? '';
  const { live_key, test_key, ...session } = body;
  expect((await by.call('get', '/session').expect(200)).body).toEqual(session);
  expect((await world.http(live_key).get('/v1/usage').expect(200)).body.limit).toBe(100);
  await world.http(test_key).get('/v1/usage').expect(200);
  expect((await browser().signIn(email, PASSWORD)).status).toBe(200);
});

test('GET /config shows a visitor whether accounts can be opened, and the session, in one call', async () => {
  expect((await browser().call('get', '/config').expect(200)).body).toEqual({
    signup: 'open',
    public_verification: true,
    key_rate_limit: 100_000,
    session: null,
  });
  const shut = browser(String(closed.ready.base_url));
  expect((await shut.call('get', '/config').expect(200)).body).toEqual({
    signup: 'closed',
    public_verification: true,
    key_rate_limit: 100_000,
    session: null,
  });
  const email = newEmail();
  await signUp(account(email)).expect(201);
  const by = browser();
  const { body: session } = await by.signIn(email, PASSWORD);
  expect((await by.call('get', '/config').expect(200)).body).toEqual({
    signup: 'open',
    public_verification: true,
    key_rate_limit: 100_000,
    session,
  });
  await by.call('delete', '/session').expect(204);
  expect((await by.call('get', '/config').expect(200)).body.session).toBeNull();
});

test('does not exist while SIGNUP is closed', async () => {
  const shut = browser(String(closed.ready.base_url));
  const email = newEmail();
  const { status, body } = await signUp(account(email), newNetwork(), shut);
  expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  expect(await world.sql('SELECT 1 FROM app_user WHERE email = $1', [email])).toEqual([]);
});

test.each([
  [{}, ['email', 'name', 'password']],
  [{ ...account('a@example.com'), name: '  ' }, ['name']],
  [{ ...account('a@example.com'), name: 'a\nb' }, ['name']],
  [{ ...account('a@example.com'), name: 'n'.repeat(101) }, ['name']],
  [account('nobody'), ['email']],
  [account('a@b'), ['email']],
  [account('a b@example.com'), ['email']],
  [account(`${'a'.repeat(250)}@example.com`), ['email']],
  [{ ...account('a@example.com'), password: 'eleven char' }, ['password']],
  [{ ...account('a@example.com'), password: 'p'.repeat(1_025) }, ['password']],
  [{ ...account('a@example.com'), plan: 'enterprise' }, ['plan']],
])('a bad body (%#) is 400 with the fields to correct, and does not count', async (body, fields) => {
  const from = newNetwork();
  for (let i = 0; i < 11; i += 1) {
    const answer = await signUp(body, from).expect(400);
    expect(answer.body.error.fields.map(({ path }: { path: string }) => path).sort()).toEqual(fields);
  }
});

test('a taken address is 409 EMAIL_TAKEN in any spelling, also for concurrent calls, and changes nothing', async () => {
  const email = newEmail();
  const race = await Promise.all([signUp(account(email)), signUp(account(email.toUpperCase()))]);
  expect(race.map(({ status }) => status).sort()).toEqual([201, 409]);
  const answer = await signUp({ ...account(email), password: 'another few words' });
  expect([answer.status, answer.body.error.code, setCookieOf(answer)]).toEqual([409, 'EMAIL_TAKEN', '']);
  expect((await browser().signIn(email, PASSWORD)).status).toBe(200);
  const [row] = await world.sql<{ n: number }>('SELECT count(*)::int AS n FROM app_user WHERE email = $1', [email]);
  expect(row?.n).toBe(1);
});

test('a page of another site cannot open an account', async () => {
  const answer = await signUp(account()).set('Origin', 'https://evil.example');
  expect([answer.status, answer.body.error.code]).toEqual([403, 'FORBIDDEN']);
});

test('ten per hour from one network, then 429 with Retry-After; another network is not affected', async () => {
  const taken = newEmail();
  await signUp(account(taken)).expect(201);
  const from = '2001:db8:7:7';
  // A taken address counts too: each answer reveals whether an account exists.
  const race = await Promise.all(Array.from({ length: 12 }, (_, n) => signUp(account(taken), `${from}::${n + 1}`)));
  expect(race.filter(({ status }) => status === 409)).toHaveLength(10);
  const refused = race.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(2);
  for (const { body, headers } of refused) {
    expect(body.error).toEqual({
      code: 'TOO_MANY_SIGN_UPS',
      message: expect.any(String),
      retry_after: expect.any(Number),
    });
    expect(headers['retry-after']).toBe(String(body.error.retry_after));
    expect(body.error.retry_after).toBeGreaterThan(3_500);
    expect(body.error.retry_after).toBeLessThanOrEqual(3_600);
  }
  await signUp(account(), '2001:db8:7:8::1').expect(201);
});

test('three hundred per hour in total', async () => {
  await world.sql(
    `UPDATE sign_in_attempt SET tried_at = array_fill(now(), ARRAY[300]) WHERE cardinality(tried_at) =
       (SELECT max(cardinality(tried_at)) FROM sign_in_attempt)`,
  );
  const { status, body } = await signUp(account());
  expect([status, body.error.code]).toEqual([429, 'TOO_MANY_SIGN_UPS']);
  await world.sql(`UPDATE sign_in_attempt SET tried_at = '{}' WHERE cardinality(tried_at) = 300`);
  // Refusals are cached for a second.
  await until('sign-up to be open again', async () => (await signUp(account())).status === 201);
});

test('the /64s of one /48 share fifty', async () => {
  await world.sql('DELETE FROM sign_in_attempt');
  await signUp(account(), '2001:db8:9::1').expect(201);
  await world.sql('UPDATE sign_in_attempt SET tried_at = array_fill(now(), ARRAY[50])');
  const { status, body } = await signUp(account(), '2001:db8:9:1::1');
  expect([status, body.error.code]).toEqual([429, 'TOO_MANY_SIGN_UPS']);
  await signUp(account(), '2001:db8:a::1').expect(201);
});

test('refused sign-ups leave no rows', async () => {
  const count = async () => (await world.sql('SELECT 1 FROM sign_in_attempt')).length;
  await world.sql(
    `UPDATE sign_in_attempt SET tried_at = array_fill(now(), ARRAY[300]) WHERE cardinality(tried_at) =
       (SELECT max(cardinality(tried_at)) FROM sign_in_attempt)`,
  );
  const before = await count();
  for (let n = 0; n < 20; n += 1) await signUp(account(), `2001:db8:b${n}::1`).expect(429);
  expect(await count()).toBe(before);
  await world.sql(`UPDATE sign_in_attempt SET tried_at = '{}' WHERE cardinality(tried_at) = 300`);
  await until('sign-up to be open again', async () => (await signUp(account())).status === 201);
});

test('X-Forwarded-For is used only from a trusted proxy', async () => {
  const direct = await world.startApi({ TRUSTED_PROXIES: '' });
  const by = () => browser(String(direct.ready.base_url));
  const taken = newEmail();
  await signUp(account(taken)).expect(201);
  const answers = [];
  for (let i = 0; i < 11; i += 1) answers.push((await signUp(account(taken), newNetwork(), by())).status);
  expect(answers.slice(-2)).toEqual([409, 429]);
  await direct.stop();
});

test('no key, password or token is in the database, in Redis or in a log', async () => {
  const email = newEmail();
  const answer = await signUp(account(email)).expect(201);
  const token = setCookieOf(answer).replace(/^[^=]+=([^;]+).*/, '$1');
  await world.http(answer.body.live_key).get('/v1/usage').expect(200);
  const everything = `${await databaseText(world)}\n${logText(world)}\n${await redis.text()}`;
  expect(everything).toContain(email);
  for (const secret of [PASSWORD, token, answer.body.csrf_token, answer.body.live_key, answer.body.test_key]) {
    for (const form of formsOf(secret)) expect(everything.includes(form)).toBe(false);
  }
  expect(logText(world)).not.toContain(email);
});

test('the API does not start with a trusted proxy that is not an address, and says why', async () => {
  await expect(world.startApi({ TRUSTED_PROXIES: 'everybody' }, { ownProcess: true })).rejects.toThrow(
    /TRUSTED_PROXIES/,
  );
});
