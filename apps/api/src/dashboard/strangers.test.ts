import { DASHBOARD_OPERATIONS, type DashboardOperation } from '@vat/contracts';
import { configureWebhook, numberOf, startWorld, type TestAccount, until, uploadBatch, type World } from '@vat/testkit';
import { openRaw } from '../raw-connection.fixture.js';
import { type Browser, openBrowser } from './browser.fixture.js';
import { databaseText } from './everything.fixture.js';

type Route = { method: 'get' | 'post' | 'put' | 'patch' | 'delete'; path: string };

/** Routes with an id that only sessions can use; the OpenAPI document has the others. */
const OF_SESSIONS: Route[] = Object.values<DashboardOperation>(DASHBOARD_OPERATIONS)
  .filter(({ path }) => path.includes('{'))
  .map(({ method, path }) => ({ method, path: path.replace('/app/api', '') }));
/** Anchors belong to the service and are the same for all accounts. */
const OF_EVERYBODY = ['/anchors'];

let world: World;
let victim: Browser;
let stranger: Browser;
let account: TestAccount;
/** The ids of the victim's rows, by the path of their route. */
const ids: Record<string, string> = {};
beforeAll(async () => {
  world = await startWorld({ settings: { ANCHOR_EVERY: '1s', WATCHES_EVERY: '300ms' } });
  const accounts = await Promise.all([
    world.newAccount({ email: 'victim@example.com' }),
    world.newAccount({ email: 'stranger@example.com' }),
  ]);
  [account] = accounts;
  [victim, stranger] = [openBrowser(world.baseUrl()), openBrowser(world.baseUrl())];
  await Promise.all([victim.signIn('victim@example.com'), stranger.signIn('stranger@example.com')]);

  const made = async (path: string, body: object) => (await victim.call('post', path, body).expect(201)).body;
  for (const each of accounts) await configureWebhook(world, each, 'https://203.0.113.1/');
  const check = await made('/checks', { vat_number: numberOf('DE', 1) });
  await victim.call('post', `/checks/${check.id}/timestamp`);
  await until('the time-stamp', async () => (await victim.call('get', `/checks/${check.id}/timestamp`)).status === 200);
  await until('the anchor', async () => (await victim.call('get', `/checks/${check.id}/anchor`)).status === 200);
  const watch = await made('/watches', { vat_number: numberOf('DE', 2), frequency: 'daily' });
  await until('the baseline', async () => (await victim.call('get', `/watches/${watch.watch_id}`)).body.last_check_id);
  const batch = (await uploadBatch(world, `vat_number\n${numberOf('DE', 3)}\n`, { key: account.live_key })).body;
  const isDone = async () => (await victim.call('get', `/batches/${batch.batch_id}`)).body.status === 'completed';
  await until('the batch to complete', isDone);
  const coverage = await world
    .http(account.live_key)
    .post('/v1/coverage')
    .set('Content-Type', 'text/csv')
    .send(`vat_number,date\n${numberOf('DE', 3)},2026-01-31\n`)
    .expect(201);
  const sent = (await victim.call('post', '/webhook/test').expect(202)).body;
  const delivery = async () => (await victim.call('get', `/webhook/deliveries/${sent.delivery_id}`)).body;
  await until('the first attempt', async () => (await delivery()).attempts > 0);
  const key = await made('/keys', { name: 'Theirs' });
  const invitation = await made('/invitations', { role: 'auditor' });
  const { members } = (await victim.call('get', '/members').expect(200)).body;
  Object.assign(ids, {
    '/checks': check.id,
    '/requests': check.request_id,
    '/watches': watch.watch_id,
    '/batches': batch.batch_id,
    '/coverage': coverage.body.coverage_id,
    '/webhook/deliveries': sent.delivery_id,
    '/events': (await delivery()).event_id,
    '/keys': key.key_id,
    '/invitations': invitation.invitation_id,
    '/members': members[0].user_id,
  });
});
afterAll(() => world?.stop());

const readRoutes = async (): Promise<Route[]> => {
  const { body } = await world.http(null).get('/v1/openapi.json').expect(200);
  const described = Object.entries(body.paths as Record<string, object>)
    .filter(([path]) => path.includes('{'))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method, path: path.replace(/^\/v1/, '') }) as Route),
    );
  return [...described, ...OF_SESSIONS].filter((route) => !OF_EVERYBODY.includes(kindOf(route)));
};
/** The kind of thing that a path names. */
const kindOf = ({ path }: Route): string => path.slice(0, path.indexOf('/{'));
const call = (browser: Browser, { method, path }: Route, id: string) => {
  const change = path.startsWith('/members') ? { role: 'auditor' } : { label: 'Mine now' };
  return browser.call(method, path.replace(/\{\w+\}/, id), method === 'patch' ? change : undefined);
};
/** An id of the same kind that does not exist. */
const unknown = (id: string) => id.replace(/_.*/, '_01h45ytscbebyvny4gc8cr8ma2');

/** An invented id: well-formed, but not a valid UUID. */
const madeUp = (id: string) => id.replace(/_.*/, '_00000000000000000000000001');

test('the victim can read its own rows', async () => {
  const routes = await readRoutes();
  expect(routes.length).toBeGreaterThan(12);
  // For a new kind, add a row of the victim here.
  expect(routes.filter((route) => ids[kindOf(route)] === undefined)).toEqual([]);
  for (const route of routes.filter(({ method }) => method === 'get')) {
    const { status } = await call(victim, route, ids[kindOf(route)] ?? '');
    expect([route.path, status]).toEqual([route.path, 200]);
  }
});

test("on every route with an id, another account's id is 404 like an unknown or ill-formed one, and nothing changes", async () => {
  // The upstream statistics are written at intervals, independent of calls.
  const before = await databaseText(world, ['upstream_minute', 'upstream_hour']);
  for (const route of await readRoutes()) {
    const id = ids[kindOf(route)] ?? '';
    const name = `${route.method} ${route.path}`;
    const theirs = await call(stranger, route, id);
    expect([name, theirs.status, theirs.body.error?.code]).toEqual([name, 404, 'NOT_FOUND']);
    for (const other of [unknown(id), madeUp(id), id.replace(/^[a-z]+_/, 'acc_'), 'nonsense', '%00']) {
      const { status, body } = await call(stranger, route, other);
      expect([name, other, status, body]).toEqual([name, other, 404, theirs.body]);
    }
  }
  // The last use of a session is written once a minute, which does not count as a change.
  const lasting = (text: string) =>
    text
      .split('\n')
      .filter((row) => !/\\x[0-9a-f]{64}/.test(row))
      .sort();
  expect(lasting(await databaseText(world, ['upstream_minute', 'upstream_hour']))).toEqual(lasting(before));
});

test("on every route with an id, a test key of the victim's account finds nothing live and changes nothing", async () => {
  const http = world.http(account.test_key);
  const before = await world.sql('SELECT count(*)::int AS n FROM delivery');
  const found: string[] = [];
  for (const route of (await readRoutes()).filter(({ path }) => !OF_SESSIONS.some((other) => other.path === path))) {
    const send = (id: string) => {
      const path = `/v1${route.path.replace(/\{\w+\}/, id)}`;
      const { method } = route;
      return method === 'get' ? http.get(path) : method === 'post' ? http.post(path) : http.method(method, path);
    };
    const id = ids[kindOf(route)] ?? '';
    const { status, body } = await send(id);
    // Routes that a test key may not use refuse it before the id is read.
    if (body.error?.code === 'TEST_KEY_NOT_ALLOWED') continue;
    found.push(`${route.method} ${route.path}`);
    const unknownId = await send(unknown(id));
    expect([route.path, status, body]).toEqual([route.path, 404, unknownId.body]);
    expect(body.error.code).toBe('NOT_FOUND');
  }
  expect(found.sort()).toEqual([
    'get /checks/{id}',
    'get /checks/{id}/certificate.pdf',
    'get /checks/{id}/evidence',
    'get /checks/{id}/link',
    'get /events/{id}',
    'get /requests/{id}',
    'get /webhook/deliveries/{id}',
    'post /webhook/deliveries/{id}/resend',
  ]);
  expect(await world.sql('SELECT count(*)::int AS n FROM delivery')).toEqual(before);
});

test("without an id, a test key reads nothing live, the account's usage included", async () => {
  const http = world.http(account.test_key);
  const { body } = await world.http(null).get('/v1/openapi.json').expect(200);
  const paths = Object.entries(body.paths as Record<string, object>)
    .filter(([path, methods]) => !path.includes('{') && 'get' in methods)
    .map(([path]) => path);
  expect(paths).toEqual(expect.arrayContaining(['/v1/checks', '/v1/webhook/deliveries', '/v1/usage']));
  for (const path of paths) {
    const { text } = await http.get(path);
    for (const id of Object.values(ids)) expect([path, text.includes(id)]).toEqual([path, false]);
  }
  expect((await world.http(account.live_key).get('/v1/usage')).body.used).toBeGreaterThan(0);
  expect((await http.get('/v1/usage')).body).toMatchObject({ used: 0, reserved: 0 });
});

test('on every route with an id, a visitor gets 401, whatever the id', async () => {
  for (const route of await readRoutes()) {
    for (const id of [ids[kindOf(route)] ?? '', 'nonsense']) {
      const { status } = await call(openBrowser(world.baseUrl()), route, id);
      expect([route.path, id, status]).toEqual([route.path, id, 401]);
    }
  }
});

test("the victim's rows are in none of the stranger's lists", async () => {
  for (const path of [
    '/overview',
    '/checks',
    '/requests',
    '/batches',
    '/coverage',
    '/watches',
    '/webhook/deliveries',
    '/keys',
    '/members',
  ]) {
    const { text } = await stranger.call('get', path).expect(200);
    for (const id of Object.values(ids)) expect([path, text.includes(id)]).toEqual([path, false]);
  }
});

test('every readable path answers HEAD like GET, also pipelined behind it', async () => {
  const withId = (await readRoutes()).filter(({ method }) => method === 'get');
  const { body } = await world.http(null).get('/v1/openapi.json').expect(200);
  const lists = Object.entries(body.paths as Record<string, object>)
    .filter(([path, methods]) => path.startsWith('/v1/') && !path.includes('{') && 'get' in methods)
    .map(([path]) => path.replace('/v1/', '/app/api/'));
  const paths = [
    ...withId.map((route) => `/app/api${route.path.replace(/\{\w+\}/, ids[kindOf(route)] ?? '')}`),
    ...lists.filter((path) => path !== '/app/api/openapi.json'),
    ...['overview', 'requests', 'session', 'settings', 'keys', 'members', 'config'].map((name) => `/app/api/${name}`),
    ...['/healthz', '/readyz', '/metrics', '/docs', '/v1/openapi.json', '/verifier', '/verifier/verify.py'],
  ];
  for (const path of paths) {
    const connection = await openRaw(world.baseUrl());
    for (const method of ['GET', 'HEAD', 'GET'])
      connection.send(`${method} ${path} HTTP/1.1\r\nHost: x\r\nCookie: ${victim.cookie}\r\n\r\n`);
    const statuses = () =>
      [...connection.text().matchAll(/HTTP\/1\.1 (\d+) [\s\S]*?\r\n\r\n/g)].map(([, status]) => status);
    await until(`three answers of ${path}`, () => statuses().length === 3);
    expect([path, ...statuses()]).toEqual([path, '200', '200', '200']);
    connection.close();
  }
});
