import { readFileSync, writeFileSync } from 'node:fs';
import {
  faultSize,
  insertChecks,
  numberOf,
  reportFigure,
  startWorld,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';
import { openBrowser } from './dashboard/browser.fixture.js';
import { openRaw, type RawConnection } from './raw-connection.fixture.js';
import { MAX_QUEUED_REQUESTS } from './server/guard-connections.js';

/** How much the memory of the process may grow during an attack, in MiB. */
const MAX_GROWTH = 60;
/** A client that reads nothing for this long is disconnected. */
const STALL_MS = 600;

/**
 * The limit of the heap, in MiB. V8 would otherwise hold on to what is left of finished calls, by hundreds of MiB, and here it is
 * to be seen what unfinished ones cost. The young generation of a program in a test takes 48 of it, and what is loaded 33: with
 * much less, V8 collects all the time.
 */
const HEAP = '--max-old-space-size=128';

let world: World;
let cookie: string;
let batchId: string;
const opened: RawConnection[] = [];
beforeAll(async () => {
  // Without a worker a check waits for its whole window.
  world = await startWorld({
    ownProcesses: true,
    workers: 0,
    settings: { UPSTREAM_WINDOW: '3s', RESPONSE_STALL_TIMEOUT: `${STALL_MS}ms`, NODE_OPTIONS: HEAP },
  });
  await world.newAccount({ email: 'owner@example.com' });
  const browser = openBrowser(world.baseUrl());
  expect((await browser.signIn('owner@example.com')).status).toBe(200);
  cookie = browser.cookie;
  await insertChecks(world, { accountId: world.account.account_id, count: 100, exchanges: 0 });
  const row = `${numberOf('DE', 1)},${'x'.repeat(250)}\n`;
  batchId = (await uploadBatch(world, `vat_number,note\n${row.repeat(7_000)}`)).body.batch_id;
});
afterAll(() => world?.stop());
afterEach(() => {
  for (const connection of opened.splice(0)) connection.close();
});

const open = async (options: { isPaused?: boolean } = {}): Promise<RawConnection> => {
  const connection = await openRaw(world.baseUrl(), options);
  opened.push(connection);
  return connection;
};
const head = (start: string, headers: Record<string, string> = {}) =>
  `${[`${start} HTTP/1.1`, 'Host: x', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;
const post = (path: string, body: object, headers: Record<string, string> = {}) => {
  const text = JSON.stringify(body);
  const length = String(Buffer.byteLength(text));
  return `${head(`POST ${path}`, { 'Content-Type': 'application/json', 'Content-Length': length, ...headers })}${text}`;
};
const withKey = () => ({ Authorization: `Bearer ${world.account.live_key}` });
const waitingCheck = (n: number) => post('/v1/checks', { vat_number: numberOf('FR', n) }, withKey());
const health = head('GET /healthz');

const statusesOf = (connection: RawConnection) =>
  [...connection.text().matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));

const memoryOf = (what: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${String(world.apis[0]?.pid)}/status`, 'utf8');
  return Number(new RegExp(`${what}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
};
/** The maximum growth of the memory of the process during some work, in MiB. */
const growthDuring = async (work: () => Promise<void>): Promise<number> => {
  // Resets the peak to the current value.
  writeFileSync(`/proc/${String(world.apis[0]?.pid)}/clear_refs`, '5');
  const before = memoryOf('VmRSS');
  await work();
  return memoryOf('VmHWM') - before;
};
const expectHealthy = async () => expect((await world.http(null).get('/healthz')).status).toBe(200);

describe('requests behind an unfinished one', () => {
  const FLOOD = 20_000;
  const signIn = post('/app/api/session', { email: 'nobody@example.com', password: 'wrong' });
  test.each<[string, () => string, string, (() => Promise<unknown>)?]>([
    ['an open event stream', () => head('GET /app/api/news', { Cookie: cookie }), health],
    ['a waiting check', () => waitingCheck(1), health],
    ['sign-ins of a visitor', () => signIn, signIn],
    ['a download that is not read', () => head(`GET /v1/batches/${batchId}/results.csv`, withKey()), health],
    ['one that waits for 100 Continue', () => waitingCheck(2), head('GET /healthz', { Expect: '100-continue' })],
  ])('close the connection when they are %s and 20 000 more', async (what, first, more) => {
    const growth = await growthDuring(async () => {
      const connection = await open({ isPaused: what.startsWith('a download') });
      connection.send(`${first()}${more.repeat(FLOOD)}`);
      await until('the connection to be closed', async () => {
        await expectHealthy();
        connection.resume();
        return connection.isClosed();
      });
      // The connection was closed without waiting for any of the answers.
      expect(connection.text()).not.toContain('HTTP/1.1 202');
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
    await expectHealthy();
  });

  test('are answered when there are 32, and close the connection when there are 33', async () => {
    const [served, closed] = [await open(), await open()];
    served.send(waitingCheck(3) + health.repeat(MAX_QUEUED_REQUESTS));
    closed.send(waitingCheck(4) + health.repeat(MAX_QUEUED_REQUESTS + 1));
    await until('the connection to be closed', closed.isClosed);
    expect(closed.text()).toBe('');
    await until('every answer', () => statusesOf(served).length === 1 + MAX_QUEUED_REQUESTS);
    expect(statusesOf(served)).toEqual([202, ...Array.from({ length: MAX_QUEUED_REQUESTS }, () => 200)]);
    // All are answered, so as many may follow.
    served.send(health.repeat(1 + MAX_QUEUED_REQUESTS));
    await until('more answers', () => statusesOf(served).length === 2 * (1 + MAX_QUEUED_REQUESTS));
  });
});

describe('a client that does not read', () => {
  test('is disconnected: many of them use little memory and delay no other calls', async () => {
    const silent = faultSize(60, 200);
    const closedSoFar = () => world.apis[0]?.lines().filter((line) => line.includes('"reason":"')).length ?? 0;
    const [description, list] = [head('GET /v1/openapi.json'), head('GET /v1/checks?limit=100', withKey())];
    const growth = await growthDuring(async () => {
      const before = closedSoFar();
      const connections = await Promise.all(Array.from({ length: silent }, () => open({ isPaused: true })));
      // The kernel buffers four megabytes of a connection that is not read.
      for (const connection of connections) connection.send(description.repeat(24));
      await until(
        'all to be closed',
        async () => {
          await expectHealthy();
          if (closedSoFar() - before >= silent) return true;
          // Lists take the database long: few clients send for them.
          for (const [n, connection] of connections.entries()) connection.send(n % 20 === 0 ? list : description);
          return false;
        },
        40_000,
      );
      for (const connection of connections) connection.resume();
      await until('the clients to see it', () => connections.every(({ isClosed }) => isClosed()));
    });
    expect(growth).toBeLessThan(MAX_GROWTH);
  });

  test('is not one that waits for its answer, reads a stream or uploads for longer', async () => {
    const [waiting, stream, uploading] = [await open(), await open(), await open()];
    const file = `vat_number\n${numberOf('DE', 2)}\n`;
    const length = String(Buffer.byteLength(file));
    stream.send(head('GET /app/api/news', { Cookie: cookie }));
    uploading.send(head('POST /v1/batches', { ...withKey(), 'Content-Type': 'text/csv', 'Content-Length': length }));
    uploading.send(file.slice(0, 5));
    waiting.send(waitingCheck(5));
    // Its window is five times the stall timeout.
    await until('the answer', () => statusesOf(waiting).length === 1);
    uploading.send(file.slice(5));
    await until('the batch', () => statusesOf(uploading).length === 1);
    expect([statusesOf(waiting), statusesOf(uploading)]).toEqual([[202], [201]]);
    expect([stream.isClosed(), stream.text().includes('retry: 2000')]).toEqual([false, true]);
  });
});

test('clients that send their headers slowly delay no other calls and use little memory', async () => {
  const count = faultSize(200, 2_000);
  const waits: number[] = [];
  await world.http().get('/v1/checks').expect(200);
  const growth = await growthDuring(async () => {
    const slow = await Promise.all(Array.from({ length: count }, () => open()));
    const lines = [...head('GET /v1/checks', withKey())];
    // A byte of each at a time; a call in between.
    for (const byte of lines.slice(0, 20)) {
      for (const connection of slow) connection.send(byte);
      const startedAt = performance.now();
      await world.http().get('/v1/checks').expect(200);
      waits.push(performance.now() - startedAt);
    }
    expect(slow.some(({ isClosed }) => isClosed())).toBe(false);
  });
  reportFigure(`slow clients: ${count} at once; other calls took at most ${Math.max(...waits).toFixed(0)} ms`);
  expect(Math.max(...waits)).toBeLessThan(1_000);
  expect(growth).toBeLessThan(MAX_GROWTH);
});

test('a process accepts up to MAX_CONNECTIONS, refuses further ones, and accepts them once others have closed', async () => {
  const api = await world.startApi({ MAX_CONNECTIONS: '3' });
  const baseUrl = String(api.ready.base_url);
  const isServed = async (connection: RawConnection) => {
    connection.send(health);
    await until('an answer or the end', () => statusesOf(connection).length > 0 || connection.isClosed());
    return !connection.isClosed();
  };
  const connections = await Promise.all(Array.from({ length: 3 }, () => openRaw(baseUrl)));
  for (const connection of connections) expect(await isServed(connection)).toBe(true);
  const refused = await openRaw(baseUrl);
  await until('the end of the fourth', refused.isClosed);
  expect(api.lines().some((line) => line.includes('MAX_CONNECTIONS is reached'))).toBe(true);
  connections[0]?.close();
  await until('another connection to be accepted', async () => {
    const another = await openRaw(baseUrl);
    connections.push(another);
    return isServed(another);
  });
  for (const connection of connections) connection.close();
  await api.stop();
});

test('the API description carries an ETag, and a client that has it gets 304 without a body', async () => {
  const { headers, body } = await world.http(null).get('/v1/openapi.json').expect(200);
  expect(body.openapi).toBe('3.1.0');
  const again = await world.http(null).get('/v1/openapi.json').set('If-None-Match', String(headers.etag));
  expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
  await world.http(null).get('/v1/openapi.json').set('If-None-Match', '"other"').expect(200);
});
