import { request } from 'node:http';
import { PAGE_TOPICS, uuidOf } from '@vat/domain';
import { configureWebhook, numberOf, startWorld, type TestAccount, until, uploadBatch, type World } from '@vat/testkit';
import { openRaw, type RawConnection } from '../raw-connection.fixture.js';
import { type Browser, openBrowser, openSignedIn } from './browser.fixture.js';

/** A page that reads the stream /app/api/news. */
type Listening = {
  status: number;
  headers: Record<string, unknown>;
  /** Everything received so far. */
  text: () => string;
  /** The `changed` events so far. */
  updates: () => { topic: string; id?: string }[];
  /** True once the server has ended the stream. */
  isOver: () => boolean;
  close: () => void;
};

/** Opens the stream as the pages of a signed-in browser do; resolves when its answer begins. */
const listen = (baseUrl: string, { cookie }: Pick<Browser, 'cookie'>): Promise<Listening> =>
  new Promise((resolve, reject) => {
    const call = request(`${baseUrl}/app/api/news`, { headers: { cookie, accept: 'text/event-stream' }, agent: false });
    call.once('error', reject);
    call.once('response', (response) => {
      let text = '';
      let isOver = false;
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('close', () => {
        isOver = true;
      });
      response.on('error', () => undefined);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        text: () => text,
        updates: () =>
          [...text.matchAll(/^event: changed\ndata: (.*)\n\n/gm)].map(([, data]) => JSON.parse(String(data))),
        isOver: () => isOver,
        close: () => response.destroy(),
      });
    });
    call.end();
  });

const DOWN = { kind: 'error', code: 'MS_UNAVAILABLE' };

let world: World;
let account: TestAccount;
let owner: Browser;
let other: Browser;
const opened: Listening[] = [];
beforeAll(async () => {
  world = await startWorld({ apis: 2, settings: { WATCHES_EVERY: '300ms' } });
  [account] = await Promise.all([
    world.newAccount({ email: 'owner@example.com' }),
    world.newAccount({ email: 'other@example.com' }),
  ]);
  owner = await signedIn('owner@example.com');
  other = await signedIn('other@example.com');
});
afterAll(() => world?.stop());
afterEach(() => {
  for (const page of opened.splice(0)) page.close();
});

const urlOf = (api: number) => String(world.apis[api]?.ready.base_url);
const signedIn = (email: string, baseUrl = world.baseUrl()) => openSignedIn(baseUrl, email);
const open = async (browser = owner, baseUrl = urlOf(0)): Promise<Listening> => {
  const page = await listen(baseUrl, browser);
  opened.push(page);
  return page;
};
const receives = (page: Listening, topic: string, id?: string) =>
  until(`an update of ${topic}`, () =>
    page.updates().find((update) => update.topic === topic && (id === undefined || update.id === id)),
  );
const check = (body: object, key = account.live_key) => world.http(key).post('/v1/checks', body);

test('is a stream of events that is not cached or buffered, and needs a session', async () => {
  const page = await open();
  expect([page.status, page.headers]).toEqual([
    200,
    expect.objectContaining({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-content-type-options': 'nosniff',
    }),
  ]);
  expect(page.text()).toBe('retry: 2000\n\n');
  expect((await openBrowser(world.baseUrl()).call('get', '/news')).status).toBe(401);
  expect((await owner.call('options', '/news')).status).toBe(405);
});

test('a check of an API key is published to the pages of its account on every process, and to no other account', async () => {
  const pages = [await open(), await open(owner, urlOf(1))];
  const stranger = await open(other);
  const { body } = await check({ vat_number: numberOf('DE', 1) }).expect(201);
  for (const page of pages) await receives(page, 'checks', body.id);
  // The update of the other account arrives later than these would have.
  const { body: theirs } = await other.call('post', '/checks', { vat_number: numberOf('DE', 2) }).expect(201);
  await receives(stranger, 'checks', theirs.id);
  expect(stranger.updates().map(({ id }) => id)).not.toContain(body.id);
});

test('a malformed number, which never reaches a worker, is published too', async () => {
  const page = await open();
  await check({ vat_number: 'DE1' }).expect(201);
  await receives(page, 'checks');
});

test('a request is published when it is accepted, retried and completed', async () => {
  const vatNumber = numberOf('FI', 3);
  await world.vies.script(vatNumber, [DOWN]);
  const page = await open();
  const { body } = await check({ vat_number: vatNumber }).expect(202);
  await receives(page, 'requests', body.request_id);
  await world.vies.script(vatNumber, [{ kind: 'valid' }]);
  await receives(page, 'checks');
  await until(
    'its end',
    async () => (await world.http(account.live_key).get(`/v1/requests/${body.request_id}`)).body.check,
  );
});

test('a batch is published from its upload to its end, in few messages however many lines it has', async () => {
  const page = await open();
  const startedAt = performance.now();
  const lines = Array.from({ length: 120 }, (_, n) =>
    numberOf((['DE', 'FR', 'PL', 'IT'] as const)[n % 4] ?? 'DE', 100 + n),
  );
  const { body } = await uploadBatch(world, `vat_number\n${lines.join('\n')}\n`, { key: account.live_key });
  await receives(page, 'batches');
  await until(
    'the batch to complete',
    async () => (await owner.call('get', `/batches/${body.batch_id}`)).body.status === 'completed',
  );
  const received = page.updates().length;
  const seconds = (performance.now() - startedAt) / 1_000;
  // Three topics (batches, checks, requests), each at most twice a second, plus the first ones.
  expect(received).toBeLessThanOrEqual(6 * seconds + 6);
  const before = page.updates().length;
  await owner.call('delete', `/batches/${body.batch_id}`).expect(204);
  await until('its end to be published', () =>
    page
      .updates()
      .slice(before)
      .some(({ topic }) => topic === 'batches'),
  );
});

test('changes of watches and deliveries are published', async () => {
  const page = await open();
  const { body: watch } = await owner
    .call('post', '/watches', { vat_number: numberOf('PL', 5), frequency: 'daily' })
    .expect(201);
  await receives(page, 'watches');
  const lastCheck = async () => (await owner.call('get', `/watches/${watch.watch_id}`)).body.last_check_id;
  const baseline = await until('the first run', lastCheck);
  const before = page.updates().length;
  await world.admin('watch', 'run', watch.watch_id);
  await until('the next run', async () => (await lastCheck()) !== baseline);
  await until('the run to be published', () =>
    page
      .updates()
      .slice(before)
      .some(({ topic }) => topic === 'watches'),
  );
  await configureWebhook(world, account, 'https://203.0.113.1/');
  const { body: sent } = await owner.call('post', '/webhook/test').expect(202);
  await receives(page, 'deliveries', sent.delivery_id);
});

test('a run of a watch that is postponed is published', async () => {
  await world.newAccount({ email: 'postponed@example.com', quota: '0' });
  const browser = await signedIn('postponed@example.com');
  const { body: watch } = await browser
    .call('post', '/watches', { vat_number: numberOf('PL', 6), frequency: 'daily' })
    .expect(201);
  const path = `/watches/${watch.watch_id}`;
  await until('the first run', async () => (await browser.call('get', path)).body.missed_since);
  const page = await open(browser);
  await world.sql('UPDATE watch SET next_check_at = now() WHERE id = $1', [uuidOf('watch', watch.watch_id)]);
  await receives(page, 'watches');
});

test('a fifth page of a session is 429 with Retry-After; another session is admitted, and a closed stream makes room', async () => {
  const pages = [await open(), await open(), await open(), await open()];
  const { status, body, headers } = await owner.call('get', '/news');
  expect([status, body.error]).toEqual([
    429,
    { code: 'TOO_MANY_STREAMS', message: expect.any(String), retry_after: expect.any(Number) },
  ]);
  expect(headers['content-type']).toBe('application/json; charset=utf-8');
  expect((await open(await signedIn('owner@example.com'))).status).toBe(200);
  pages[0]?.close();
  const again = await until('a free place', async () => {
    const page = await open();
    return page.status === 200 && page;
  });
  await check({ vat_number: numberOf('DE', 7) }).expect(201);
  await receives(again, 'checks');
});

test('HEAD is answered and opens no stream', async () => {
  const answer = await fetch(`${world.baseUrl()}/app/api/news`, { method: 'HEAD', headers: { cookie: owner.cookie } });
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
});

/** Writes several calls of the owner on one connection without waiting for answers. */
const pipeline = async (calls: readonly string[]): Promise<RawConnection> => {
  const connection = await openRaw(urlOf(0));
  connection.send(calls.map((call) => `${call} HTTP/1.1\r\nHost: x\r\nCookie: ${owner.cookie}\r\n\r\n`).join(''));
  return connection;
};

test('a HEAD behind an open stream waits for its turn, and page updates do not crash the process', async () => {
  const connection = await pipeline(['GET /app/api/news', 'HEAD /app/api/news']);
  await until('the stream to begin', () => connection.text().includes('retry: 2000'));
  const { body } = await owner.call('post', '/checks', { vat_number: 'DE1' }).expect(201);
  await until('the update', () => connection.text().includes(body.id));
  expect(connection.text().match(/HTTP\/1.1/g)).toHaveLength(1);
  connection.close();
  expect((await owner.call('get', '/session')).status).toBe(200);
});

test('streams requested behind an open one do not count, and none remains when the connection ends', async () => {
  const connection = await pipeline(Array.from({ length: 6 }, () => 'GET /app/api/news'));
  await until('the stream to begin', () => connection.text().includes('retry: 2000'));
  for (const page of [await open(), await open(), await open()]) expect(page.status).toBe(200);
  connection.close();
  await until('a free place', async () => (await open()).status === 200);
});

test('a process that stops ends its streams immediately and does not wait for them', async () => {
  const api = await world.startApi();
  const page = await open(owner, String(api.ready.base_url));
  const startedAt = performance.now();
  const stopping = api.stop();
  await until('the stream to end', page.isOver, 2_000);
  await stopping;
  expect(await api.exited).toBe(0);
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(api.lines().join('\n')).not.toContain('"level":"error"');
});

test('without Redis a stream opens, stays open, and has its page read everything at intervals', async () => {
  const api = await world.startApi({ REDIS_URL: 'redis://127.0.0.1:1' });
  const page = await open(owner, String(api.ready.base_url));
  expect(page.status).toBe(200);
  await until(
    'all topics to be sent',
    () => new Set(page.updates().map(({ topic }) => topic)).size === PAGE_TOPICS.length,
    12_000,
  );
  expect(page.isOver()).toBe(false);
  page.close();
  await api.stop();
});
