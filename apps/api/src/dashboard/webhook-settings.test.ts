import { createServer } from 'node:net';
import type { SignedIn } from '@vat/db';
import { newUuid, uuidOf } from '@vat/domain';
import { listenLocally, openWorldRedis, startWorld, type TestAccount, type World } from '@vat/testkit';
import { openSecret } from '@vat/webhooks';
import express from 'express';
import supertest from 'supertest';
import { sendError } from '../middleware/request.js';
import { type Browser, openBrowser } from './browser.fixture.js';
import { databaseText, formsOf, logText } from './everything.fixture.js';
import { sessionCookie, sessionTokens } from './session.js';
import { webhookSettings } from './webhook-settings.js';

const URL_OF_OURS = 'https://127.0.0.1:8443/hooks?shop=7';
const SECRET = /^whsec_[A-Za-z0-9+/]{43}=$/;
const NONE = { error: { code: 'NOT_FOUND', message: 'No webhook is configured.' } };

let world: World;
let account: TestAccount;
let owner: Browser;
beforeAll(async () => {
  world = await startWorld({ workers: 0, settings: { WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' } });
  account = await world.newAccount({ email: 'owner@example.com' });
  owner = openBrowser(world.baseUrl());
  expect((await owner.signIn('owner@example.com')).status).toBe(200);
});
afterAll(() => world?.stop());

const accountUuid = () => uuidOf('account', account.account_id) ?? '';
const save = async (url: string) => {
  const { status, body } = await owner.call('put', '/webhook', { url });
  expect([status, body]).toEqual([
    200,
    {
      url: expect.any(String),
      secret: expect.stringMatching(SECRET),
      secret_prefix: String(body.secret).slice(0, 8),
      configured_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  ]);
  return body as { url: string; secret: string; secret_prefix: string; configured_at: string };
};
const read = () => owner.call('get', '/webhook');
const sealed = async (): Promise<Buffer> => {
  const [row] = await world.sql<{ secret_sealed: Buffer }>(
    'SELECT secret_sealed FROM webhook WHERE account_id = $1::uuid',
    [accountUuid()],
  );
  return row?.secret_sealed ?? Buffer.alloc(0);
};

test('without a webhook, reading and removing it are 404', async () => {
  await owner.call('delete', '/webhook');
  for (const method of ['get', 'delete'] as const) {
    const { status, body } = await owner.call(method, '/webhook');
    expect([method, status, body]).toEqual([method, 404, NONE]);
  }
});

test('saving a URL shows the secret once; reading shows its first eight characters', async () => {
  const saved = await save(URL_OF_OURS);
  expect(saved.url).toBe(URL_OF_OURS);
  const { secret, ...rest } = saved;
  const shown = await read();
  expect([shown.status, shown.body]).toEqual([200, rest]);
  expect(shown.text).not.toContain(secret);
});

test('the secret is stored sealed for its account, and is in no other row, log or Redis key', async () => {
  const { secret } = await save(URL_OF_OURS);
  const master = world.settings.SECRET_KEY ?? '';
  const stored = await sealed();
  expect(openSecret(master, accountUuid(), stored)).toBe(secret);
  expect(() => openSecret(master, newUuid(), stored)).toThrow('does not open');
  const redis = await openWorldRedis(world);
  const everything = `${await databaseText(world)}\n${logText(world)}\n${await redis.text()}`;
  redis.close();
  expect(everything).toContain(URL_OF_OURS);
  const raw = Buffer.from(secret.slice('whsec_'.length), 'base64');
  for (const form of [...formsOf(secret), raw.toString('hex'), secret.slice(6)]) {
    expect(everything.includes(form)).toBe(false);
  }
});

test('saving again, also the same URL, rotates the secret immediately', async () => {
  const first = await save(URL_OF_OURS);
  const second = await save(URL_OF_OURS);
  expect(second.secret).not.toBe(first.secret);
  expect(openSecret(world.settings.SECRET_KEY ?? '', accountUuid(), await sealed())).toBe(second.secret);
  expect((await read()).body.configured_at).toBe(second.configured_at);
  expect(second.configured_at > first.configured_at).toBe(true);
});

test.each(['https://localhost:3395', 'HTTPS://LOCALHOST.:443/a#part', `https://localhost:3395/${'é'.repeat(1_000)}`])(
  '%.40s is stored as it was given, without outer blanks',
  async (given) => {
    expect((await save(`  ${given}\n`)).url).toBe(given);
    expect((await read()).body.url).toBe(given);
    expect((await world.http(account.live_key).get('/v1/webhook').expect(200)).body.url).toBe(given);
  },
);

test.each([
  ['http://127.0.0.1/', /https/],
  ['ftp://127.0.0.1/', /https/],
  ['https://user:pass@127.0.0.1/', /user name or password/],
  ['https://127.0.0.1:22/', /Port 22/],
  ['https://10.0.0.1/', /10\.0\.0\.1/],
  ['https://169.254.169.254/latest/meta-data', /169\.254\.169\.254/],
  ['https://[::1]/', /::1/],
  ['https://[::ffff:10.0.0.1]/', /address/],
  ['https://0x0a000001/', /10\.0\.0\.1/],
  ['', /URL/],
  ['nonsense', /URL/],
  ['https://', /host/],
  ['https://127.0.0.1/\u0000', /control character/],
  ['https://local\thost/', /control character/],
  ['https://localhost/a\nb', /control character/],
  ['\ud800', /URL/],
])('%j is INVALID_WEBHOOK_URL with the reason, and the old configuration stays', async (url, message) => {
  await save(URL_OF_OURS);
  const [before, secret] = [(await read()).body, await sealed()];
  const { status, body } = await owner.call('put', '/webhook', { url });
  expect([status, body]).toEqual([
    400,
    { error: { code: 'INVALID_WEBHOOK_URL', message: expect.stringMatching(message) } },
  ]);
  expect((await read()).body).toEqual(before);
  expect((await sealed()).equals(secret)).toBe(true);
});

test('a URL over 2 048 characters is INVALID_WEBHOOK_URL', async () => {
  const { status, body } = await owner.call('put', '/webhook', { url: `https://127.0.0.1/${'a'.repeat(2_048)}` });
  expect([status, body.error.code, body.error.message]).toEqual([
    400,
    'INVALID_WEBHOOK_URL',
    expect.stringContaining('2048'),
  ]);
});

test('loopback is refused unless WEBHOOK_ALLOWED_NETWORKS exempts it', async () => {
  const strict = await world.startApi({ WEBHOOK_ALLOWED_NETWORKS: '' });
  const browser = openBrowser(String(strict.ready.base_url));
  await browser.signIn('owner@example.com');
  for (const url of ['https://127.0.0.1/', 'https://localhost/', 'https://2130706433/']) {
    const { status, body } = await browser.call('put', '/webhook', { url });
    expect([url, status, body.error.code]).toEqual([url, 400, 'INVALID_WEBHOOK_URL']);
  }
  await strict.stop();
});

test.each([[{}], [{ url: 5 }], [{ url: null }], [{ url: URL_OF_OURS, secret: 'mine' }]])(
  'PUT %j is 400 BAD_REQUEST',
  async (body) => {
    const answer = await owner.call('put', '/webhook', body);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'BAD_REQUEST']);
  },
);

test('saving a URL makes no request to the receiver', async () => {
  const receiver = await listenLocally(createServer());
  await save(`https://${receiver.host}/`);
  await receiver.close();
  expect(receiver.connections()).toBe(0);
});

test.each([
  ['is removed', null, 401],
  ['becomes an auditor', 'auditor', 403],
] as const)('a member who %s while a name is being resolved saves nothing', async (_what, role, status) => {
  const member: SignedIn = {
    userId: newUuid(),
    email: 'member@example.com',
    role: 'member',
    accountId: newUuid(),
    accountName: 'A',
    plan: 'free',
    quota: 100,
    disabled: false,
  };
  let current: SignedIn | null = member;
  let isSaved = false;
  const { save: saveHandler } = webhookSettings({
    cookie: sessionCookie(() => 'http://localhost', 1_000),
    tokens: sessionTokens('key'),
    findSession: async () => current,
    validateUrl: async (url) => {
      current = role && { ...member, role };
      return { ok: true, url };
    },
    sealSecret: () => new Uint8Array(),
    findWebhook: async () => null,
    saveWebhook: async () => {
      isSaved = true;
      return true;
    },
    removeWebhook: async () => false,
    now: () => new Date(),
  });
  const app = express().put('/', express.json(), saveHandler).use(sendError);
  const call = supertest(app)
    .put('/')
    .set('Cookie', `vat_session=${'a'.repeat(43)}`);
  const answer = await call.send({ url: 'https://example.com/' });
  expect([answer.status, isSaved]).toEqual([status, false]);
});

test('an API key can neither read nor change the settings', async () => {
  await save(URL_OF_OURS);
  const before = (await read()).body;
  const stranger = openBrowser(world.baseUrl());
  const calls = [
    stranger.call('get', '/webhook'),
    stranger.call('put', '/webhook', { url: 'https://127.0.0.1/stolen' }),
    stranger.call('delete', '/webhook'),
  ];
  for (const call of calls) expect((await call.set('Authorization', `Bearer ${account.live_key}`)).status).toBe(401);
  expect((await read()).body).toEqual(before);
});

test('removing it ends its pending deliveries as WEBHOOK_REMOVED at once, and no others', async () => {
  await save(URL_OF_OURS);
  const strangers = uuidOf('account', world.account.account_id) ?? '';
  const states: [string, string][] = [
    [accountUuid(), 'pending'],
    [accountUuid(), 'successful'],
    [strangers, 'pending'],
  ];
  const ids = states.map(() => newUuid());
  for (const [i, [owning, state]] of states.entries()) {
    await world.sql(
      `WITH told AS (INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
         VALUES ($1::uuid, $2::uuid, 'webhook.test', $1::uuid, '{}', false, now()) RETURNING id)
       INSERT INTO delivery (id, account_id, event_id, state, created_at, next_attempt_at)
       SELECT $1::uuid, $2::uuid, told.id, $3, now(), CASE $3 WHEN 'pending' THEN now() + interval '1 hour' END FROM told`,
      [ids[i], owning, state],
    );
  }
  const answer = await owner.call('delete', '/webhook');
  expect([answer.status, answer.text]).toEqual([204, '']);
  expect([(await read()).status, (await sealed()).length]).toEqual([404, 0]);
  const after = () =>
    world.sql(
      'SELECT state, last_error, next_attempt_at IS NULL AS over FROM delivery WHERE id = ANY($1) ORDER BY id',
      [ids],
    );
  const ended = [
    { state: 'failed', last_error: 'WEBHOOK_REMOVED', over: true },
    { state: 'successful', last_error: null, over: true },
    { state: 'pending', last_error: null, over: false },
  ];
  expect(await after()).toEqual(ended);
  await save(URL_OF_OURS);
  expect(await after()).toEqual(ended);
});
