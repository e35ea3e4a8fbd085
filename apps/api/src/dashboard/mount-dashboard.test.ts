import { runProgram, startWorld, until, type World } from '@vat/testkit';
import { openBrowser, openSignedIn } from './browser.fixture.js';

const EMAIL = 'owner@example.com';
const OTHER_EMAIL = 'other@example.com';
const FILE = Buffer.from('vat_number;note\nDE136695976;Müller\n');
const NOBODY = '/members/usr_01h45ytscbebyvny4gc8cr8ma2';
const NOBODYS_KEY = '/keys/key_01h45ytscbebyvny4gc8cr8ma2';

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await Promise.all([EMAIL, OTHER_EMAIL].map((email) => world.newAccount({ email })));
});
afterAll(() => world?.stop());

const browser = () => openBrowser(world.baseUrl());
const signedIn = (email = EMAIL) => openSignedIn(world.baseUrl(), email);

const CHANGES = [
  ['delete', '/session', undefined],
  ['delete', '/sessions', undefined],
  ['put', '/password', { current_password: 'correct horse', new_password: 'stolen by a stranger' }],
  ['put', '/webhook', { url: 'https://127.0.0.1/' }],
  ['delete', '/webhook', undefined],
  ['patch', '/notifications', { quota: false }],
  ['post', '/keys', { name: 'Stolen' }],
  ['delete', NOBODYS_KEY, undefined],
  ['post', '/invitations', { role: 'owner' }],
  ['delete', '/invitations/inv_01h45ytscbebyvny4gc8cr8ma2', undefined],
  ['patch', NOBODY, { role: 'owner' }],
  ['delete', NOBODY, undefined],
] as const;

describe.each(CHANGES)('%s %s', (method, path, body) => {
  test('needs the CSRF token of its own session: 403 FORBIDDEN otherwise, and nothing changes', async () => {
    const opened = await signedIn();
    const { csrf: own } = opened;
    const other = await signedIn(OTHER_EMAIL);
    const second = await signedIn();
    const state = () =>
      world.sql(
        'SELECT (SELECT count(*) FROM api_key) k, (SELECT count(*) FROM webhook) w, (SELECT count(*) FROM session) s, (SELECT array_agg(password_hash || mail_kinds::text) FROM app_user) p, (SELECT count(*) FROM invitation) i',
      );
    const before = await state();
    for (const csrf of ['', 'wrong', own.slice(1), `${own}x`, other.csrf, second.csrf]) {
      opened.csrf = csrf;
      const answer = await opened.call(method, path, body);
      expect([csrf, answer.status, answer.body.error?.code]).toEqual([csrf, 403, 'FORBIDDEN']);
    }
    expect(await state()).toEqual(before);
    opened.csrf = own;
    expect((await opened.call('get', '/session')).status).toBe(200);
  });

  test('needs a session: 401, before the CSRF token and the body are checked', async () => {
    const { csrf } = await signedIn();
    for (const token of ['', csrf]) {
      const stranger = browser();
      stranger.csrf = token;
      expect((await stranger.call(method, path, body)).status).toBe(401);
    }
  });

  test('is closed to an API key: no key changes settings', async () => {
    const stranger = browser();
    const { csrf } = await signedIn();
    stranger.csrf = csrf;
    const answer = await stranger.call(method, path, body).set('Authorization', `Bearer ${world.account.live_key}`);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });
});

test.each(['/session', '/webhook', '/settings', '/keys', '/members', '/overview', '/requests', '/news'])(
  'GET %s without a session is 401, with an API key too',
  async (path) => {
    expect((await browser().call('get', path)).status).toBe(401);
    const answer = await browser().call('get', path).set('Authorization', `Bearer ${world.account.live_key}`);
    expect([answer.status, answer.body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  },
);

test('a session is not an API key: /v1 answers 401', async () => {
  const opened = await signedIn();
  for (const path of ['/v1/usage', '/v1/checks']) {
    const { status } = await world.http(null).get(path).set('Cookie', opened.cookie).set('X-CSRF-Token', opened.csrf);
    expect([path, status]).toEqual([path, 401]);
  }
});

test('the CSRF token is checked before the body', async () => {
  const opened = await signedIn();
  opened.csrf = 'wrong';
  expect((await opened.call('post', '/keys', { surprise: 1 })).status).toBe(403);
});

test.each([
  ['/session', 'GET, HEAD, POST, DELETE', ['put', 'patch', 'options']],
  ['/webhook', 'GET, HEAD, PUT, DELETE', ['post', 'patch']],
  ['/keys', 'GET, HEAD, POST', ['put', 'delete']],
  ['/members', 'GET, HEAD', ['post', 'delete']],
  [NOBODY, 'PATCH, DELETE', ['get', 'put', 'post']],
  ['/invitation/accept', 'POST', ['get', 'put', 'delete']],
  ['/sessions', 'DELETE', ['get', 'post']],
  ['/password', 'PUT', ['get', 'post', 'delete']],
  ['/overview', 'GET, HEAD', ['post', 'delete']],
  ['/requests', 'GET, HEAD', ['post', 'delete']],
  ['/news', 'GET, HEAD', ['post']],
  ['/config', 'GET, HEAD', ['post']],
  [NOBODYS_KEY, 'DELETE', ['get', 'put', 'post']],
] as const)('%s accepts %s; another method is 405, before the session is looked at', async (path, allow, methods) => {
  for (const method of methods) {
    const { status, headers } = await browser().call(method, path);
    expect([method, status, headers.allow]).toEqual([method, 405, allow]);
  }
});

test('an unknown path is 404, signed in or not', async () => {
  const opened = await signedIn();
  for (const path of ['', '/', '/nothing', '/session/x', '/keys/a/b']) {
    expect((await browser().call('get', path)).status).toBe(404);
    expect((await opened.call('get', path)).status).toBe(404);
  }
  for (const path of ['/app/API', '/App/Api/nothing'])
    expect([path, (await world.http(null).get(path)).body.error?.code]).toEqual([path, 'NOT_FOUND']);
});

test('no answer may be cached, framed, sniffed or embedded, errors included', async () => {
  const opened = await signedIn();
  const answers = [
    await opened.call('get', '/session'),
    await opened.call('get', '/keys'),
    await opened.call('get', '/overview'),
    await browser().call('get', '/config'),
    await opened.call('get', '/nothing'),
    await opened.call('post', '/keys', {}),
    await browser().call('get', '/session'),
    await browser().call('put', '/session'),
  ];
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['access-control-allow-origin']).toBeUndefined();
  }
});

test('a session uploads a file, follows it and downloads its results', async () => {
  const browser = await signedIn();
  const made = await browser.call('post', '/batches').attach('file', FILE, 'a.csv').field('label', 'Mine');
  expect([made.status, made.body]).toEqual([201, expect.objectContaining({ label: 'Mine', total: 1 })]);
  const path = `/batches/${made.body.batch_id}`;
  await until('the batch to complete', async () => (await browser.call('get', path)).body.status === 'completed');
  const results = await browser.call('get', `${path}/results.csv?delimiter=;`);
  expect(results.text).toContain('DE136695976;Müller;DE136695976;true;valid;');
  expect((await browser.call('delete', path)).status).toBe(204);
});

test('an upload without the CSRF token is refused before its file is read', async () => {
  const browser = await signedIn();
  browser.csrf = 'wrong';
  const refused = await browser.call('post', '/batches').attach('file', Buffer.alloc(3_000_000, 120), 'a.csv');
  expect([refused.status, refused.body.error.code]).toEqual([403, 'FORBIDDEN']);
});

test.each([
  ['SECRET_KEY', '', 'SECRET_KEY: must be set'],
  ['SECRET_KEY', 'short', 'SECRET_KEY: at least 16 characters'],
  ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/99', 'WEBHOOK_ALLOWED_NETWORKS: Not a network'],
])('the API does not start with %s=%j and says why', async (name, value, message) => {
  const settings = { ...world.settings, [name]: value };
  const { code, stderr } = await runProgram('apps/api/dist/main.js', [], settings, true);
  expect([code, stderr]).toEqual([78, expect.stringContaining(message)]);
});
