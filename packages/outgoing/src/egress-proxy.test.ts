import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { listenLocally, openProxy } from '@vat/testkit';
import { openCaller } from './index.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const listen = async (server: Server): Promise<string> => {
  const { host, close } = await listenLocally(server);
  closers.push(close);
  return host;
};

const openOwnProxy = async () => {
  const proxy = await openProxy();
  closers.push(proxy.close);
  return proxy;
};

const open = (proxyUrl: string) => {
  const caller = openCaller({ userAgent: 'vat-test', maxAnswerBytes: 1_000, now: () => new Date(), proxyUrl });
  closers.push(caller.close);
  return caller;
};

test('plain http goes through the proxy in absolute form; the exchange shows the server and no credentials', async () => {
  const { seen, host: proxy } = await openOwnProxy();
  const headers: IncomingMessage['headers'][] = [];
  const server = await listen(
    createServer(async (from, to) => {
      headers.push(from.headers);
      to.end(Buffer.concat(await from.toArray()).toString() || 'nothing');
    }),
  );
  const { call } = open(`http://egress:p%40ss@${proxy}`);
  const get = await call({ url: `http://operator:secret@${server}/path?q=1`, deadlineMs: 5_000 });
  const post = await call({ url: `http://${server}/`, body: Buffer.from('ä'), deadlineMs: 5_000 });
  const credentials = `Basic ${btoa('egress:p@ss')}`;
  expect(seen).toEqual([
    { line: `GET http://${server}/path?q=1`, credentials },
    { line: `POST http://${server}/`, credentials },
  ]);
  expect([get, post].map(({ end, response }) => [end, Buffer.from(response?.body ?? []).toString()])).toEqual([
    ['complete', 'nothing'],
    ['complete', 'ä'],
  ]);
  expect(headers[0]).toMatchObject({ host: server, authorization: `Basic ${btoa('operator:secret')}` });
  expect(headers[0]).not.toHaveProperty('proxy-authorization');
  expect(get.request).toMatchObject({ method: 'GET', url: `http://${server}/path?q=1`, headers: { host: server } });
  expect(JSON.stringify([get, post])).not.toMatch(/secret|egress|authorization/);
});

test('https goes through a tunnel; the proxy sees neither path nor headers', async () => {
  const { seen, host: proxy } = await openOwnProxy();
  let firstByte: number | undefined;
  const server = createServer();
  server.on('clientError', (error: Error & { rawPacket?: Buffer }, socket) => {
    firstByte = error.rawPacket?.[0];
    socket.destroy();
  });
  const host = await listen(server);
  const { call } = open(`http://egress:secret@${proxy}`);
  const made = await call({ url: `https://${host}/path`, deadlineMs: 5_000 });
  expect(seen).toEqual([{ line: `CONNECT ${host}`, credentials: `Basic ${btoa('egress:secret')}` }]);
  // The first byte of a TLS handshake: the server is a plain one, so the call itself fails.
  expect(firstByte).toBe(0x16);
  expect(made).toMatchObject({ end: 'failed', request: { url: `https://${host}/path` } });
  expect(JSON.stringify(made)).not.toMatch(/secret|authorization/);
});

test.each([
  ['refuses', (socket: Socket) => void socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n'), 'failed'],
  ['does not answer', () => undefined, 'deadline'],
])('a proxy that %s a tunnel fails the call within its deadline', async (_, answer, end) => {
  const server = createServer();
  server.on('connect', (_request: IncomingMessage, socket: Socket) => answer(socket));
  const proxy = await listen(server);
  const { call } = open(`http://${proxy}`);
  const made = await call({ url: 'https://upstream.invalid/', deadlineMs: 300 });
  expect(made).toMatchObject({ end, response: null });
  if (end === 'failed') expect(made.error).toContain('407');
});

test('without a proxy that listens, nothing is called directly', async () => {
  const server = await listen(createServer((_request, to) => void to.end('direct')));
  const closed = createServer();
  const gone = await listen(closed);
  await new Promise((resolve) => closed.close(resolve));
  const { call } = open(`http://${gone}`);
  for (const scheme of ['http', 'https'])
    expect(await call({ url: `${scheme}://${server}/`, deadlineMs: 5_000 })).toMatchObject({
      ...{ end: 'failed', errorCode: 'ECONNREFUSED', response: null },
    });
});

test('a proxy with an IPv6 address is connected to, and not looked up as a name', async () => {
  const { call } = open('http://[::1]:1');
  for (const scheme of ['http', 'https']) {
    const { end, errorCode } = await call({ url: `${scheme}://upstream.invalid/`, deadlineMs: 5_000 });
    // Which of these depends on whether the machine has IPv6.
    expect([end, errorCode]).toEqual([
      'failed',
      expect.stringMatching(/^(ECONNREFUSED|EADDRNOTAVAIL|E(NET|HOST)UNREACH|EAFNOSUPPORT)$/),
    ]);
  }
});
