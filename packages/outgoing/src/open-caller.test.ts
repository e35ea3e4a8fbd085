import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { listenLocally } from '@vat/testkit/local-server';
import { type Caller, exchangeOf, openCaller } from './index.js';

const AT_NOON = new Date('2026-11-03T12:00:00.000Z');
const MAX_BYTES = 1_000;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A local server, the requests that it received, and a caller. */
const open = async (listener: RequestListener) => {
  const received: { request: IncomingMessage; body: string }[] = [];
  const server = createServer(async (request, response) => {
    received.push({ request, body: Buffer.concat(await request.toArray()).toString() });
    listener(request, response);
  });
  const local = await listenLocally(server);
  const caller: Caller = openCaller({
    ...{ userAgent: 'vat-test', headers: { accept: 'text/plain' }, maxAnswerBytes: MAX_BYTES, now: () => AT_NOON },
  });
  closers.push(async () => {
    caller.close();
    await local.close();
  });
  return { ...caller, received, server, host: local.host };
};

test('without a body it is a GET, with one a POST, and both are recorded as they were sent', async () => {
  const { call, host, received } = await open((_request, response) => response.end('an answer'));
  const url = `http://${host}/path?query=1`;
  const get = await call({ url, deadlineMs: 5_000 });
  const post = await call({ url, body: Buffer.from('ä'), headers: { 'x-one': '1' }, deadlineMs: 5_000 });
  expect(received.map(({ request, body }) => [request.method, request.url, body])).toEqual([
    ['GET', '/path?query=1', ''],
    ['POST', '/path?query=1', 'ä'],
  ]);
  for (const [n, { end, errorCode, ...recorded }] of [get, post].entries()) {
    expect([end, errorCode, recorded.error, recorded.startedAt]).toEqual(['complete', null, null, AT_NOON]);
    const { connection, ...arrived } = received[n]?.request.headers ?? {};
    expect(recorded.request).toMatchObject({ url, headers: arrived });
    expect(Buffer.from(recorded.request.body).toString()).toBe(received[n]?.body);
    expect(Buffer.from(recorded.response?.body ?? []).toString()).toBe('an answer');
  }
  expect(post.request.headers).toMatchObject({ 'user-agent': 'vat-test', accept: 'text/plain', 'x-one': '1' });
  expect(exchangeOf('vies', get)).not.toHaveProperty('end');
});

test('user info is sent as basic authentication and not recorded', async () => {
  const { call, host, received } = await open((_request, response) => response.end());
  const recorded = await call({ url: `http://operator:secret@${host}/`, deadlineMs: 5_000 });
  expect(received[0]?.request.headers.authorization).toBe(`Basic ${btoa('operator:secret')}`);
  expect(recorded.request.url).toBe(`http://${host}/`);
  expect(JSON.stringify(recorded)).not.toMatch(/secret|authorization/);
});

test.each([
  [MAX_BYTES, 'complete', null],
  [MAX_BYTES + 1, 'too_long', 'an answer over 1000 bytes'],
])('an answer of %i bytes is %s, and at most the limit is recorded', async (bytes, end, error) => {
  const { call, host } = await open((_request, response) => response.end(Buffer.alloc(bytes)));
  const recorded = await call({ url: `http://${host}/`, deadlineMs: 5_000 });
  expect(recorded).toMatchObject({ end, error, response: { status: 200, complete: end === 'complete' } });
  expect(recorded.response?.body).toHaveLength(MAX_BYTES);
});

test('a call ends at its deadline, when it is aborted and when the caller is closed', async () => {
  const { call, close, host, server } = await open(() => undefined);
  const url = `http://${host}/`;
  expect(await call({ url, deadlineMs: 50 })).toMatchObject({ end: 'deadline', response: null });
  const abort = new AbortController();
  const arrived = once(server, 'request');
  const aborted = call({ url, deadlineMs: 5_000, signal: abort.signal });
  await arrived;
  abort.abort();
  expect(await aborted).toMatchObject({ end: 'aborted', error: 'AbortError: aborted', errorCode: null });
  const last = call({ url, deadlineMs: 5_000 });
  close();
  expect((await last).end).toBe('aborted');
  expect((await call({ url, deadlineMs: 5_000 })).error).toBe('AbortError: aborted before it was sent');
});

test.each(['nonsense', 'ftp://127.0.0.1/x'])('%j is not an address', async (url) => {
  const { call } = await open(() => undefined);
  const failed = { end: 'failed', errorCode: 'ERR_INVALID_URL', response: null, request: { url } };
  expect(await call({ url, deadlineMs: 5_000 })).toMatchObject(failed);
});
