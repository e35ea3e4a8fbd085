import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vat/testkit';
import { openRaw, type RawConnection } from '../raw-connection.fixture.js';
import { type CloseReason, guardConnections, MAX_QUEUED_REQUESTS } from './guard-connections.js';

const STALLED_MS = 500;
const IDLE_MS = 400;
/** More than the kernel buffers of a connection that is not read. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 120);
/** The kernel accepts more only when a third of its buffer of four megabytes is free. */
const PIECE = 1_600_000;
const CALL = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

let server: Server;
let closed: CloseReason[];
let handled: number;
let connection: RawConnection;
let dripping: NodeJS.Timeout;
beforeEach(async () => {
  [closed, handled] = [[], 0];
  server = createServer({ requireHostHeader: false });
  const guard = guardConnections(
    server,
    { stalledMs: STALLED_MS, idleMs: IDLE_MS, maxUnread: 2 * LARGE.length },
    (reason) => closed.push(reason),
  );
  const handle = guard((req, res) => {
    handled += 1;
    if (req.url === '/large') res.end(LARGE);
    else if (req.url === '/') res.end('done');
    else if (req.url === '/last') res.setHeader('Connection', 'close').end('done');
  });
  server.on('request', handle).on('checkContinue', handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  clearInterval(dripping);
  connection.close();
  await new Promise((resolve) => server.close(resolve));
});

const open = async (isPaused = false) => {
  connection = await openRaw(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { isPaused });
};
/** Sends empty lines at intervals, which HTTP allows before a request and which restart Node's timeouts. */
const drip = () => {
  dripping = setInterval(() => connection.send('\r\n'), STALLED_MS / 10);
};

test('a connection without a request is closed, although its client sends empty lines', async () => {
  await open();
  connection.send(CALL);
  await until('the answer', () => connection.text().endsWith('done'));
  drip();
  await until('the end', connection.isClosed);
  expect(closed).toEqual(['idle']);
});

test('a client that reads nothing of its response is disconnected, although it sends empty lines', async () => {
  await open(true);
  connection.send(CALL.replace('/', '/large'));
  drip();
  await until('the connection to be closed', () => closed.length > 0);
  connection.resume();
  await until('the client to see it', connection.isClosed);
  expect(closed).toEqual(['stalled']);
});

test('clients that together leave too much unread are disconnected, those with the most first', async () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await open(true);
  const others = await Promise.all([1, 2].map(() => openRaw(url, { isPaused: true })));
  try {
    for (const one of [connection, ...others]) one.send(CALL.replace('/', '/large'));
    await until('one to be disconnected', () => closed.length > 0);
    expect(closed[0]).toBe('unread');
  } finally {
    for (const one of others) one.close();
  }
});

test('a client that reads one large write slowly is not disconnected', async () => {
  await open(true);
  connection.send(CALL.replace('/', '/large').replace('Host', 'Connection: close\r\nHost'));
  // Takes three times the stall timeout, in which four pieces are read: on a busy machine, one can take several polls.
  for (let piece = 0; piece < 12; piece += 1) {
    await connection.readPiece(PIECE);
    const pausedAt = performance.now();
    await until('a while', () => performance.now() - pausedAt > STALLED_MS / 4);
  }
  expect(connection.text().length).toBeLessThan(LARGE.length);
  connection.resume();
  await until('the rest', () => connection.text().length > LARGE.length);
  expect(closed).toEqual([]);
});

test('an unanswered request with the maximum number of queued ones is not closed; with one more the connection is closed', async () => {
  await open();
  connection.send(CALL.replace('/', '/never') + CALL.repeat(MAX_QUEUED_REQUESTS));
  drip();
  const startedAt = performance.now();
  await until('longer than an idle connection may live', () => performance.now() - startedAt > 2 * IDLE_MS);
  expect([closed, connection.isClosed()]).toEqual([[], false]);
  connection.send(CALL.replace('Host', 'Expect: 100-continue\r\nHost').repeat(500));
  await until('the end', connection.isClosed);
  // No queued request begins before the previous one is answered.
  expect([closed, handled, connection.text()]).toEqual([['pipelined'], 1, '']);
});

test('a connection that the response ends in the same turn is closed', async () => {
  await open();
  // Several reads of 64 KiB in one turn: the response is sent between them, and more requests than allowed follow.
  connection.send(
    CALL.replace('/', '/last')
      .replace('Host', `X-Padding: ${'x'.repeat(3_000)}\r\nHost`)
      .repeat(200),
  );
  await until('the end', connection.isClosed);
  const isOpen = () => process.getActiveResourcesInfo().includes('TCPSocketWrap');
  await until('its socket to be closed', () => !isOpen());
  expect([closed, connection.text()]).toEqual([['pipelined'], expect.stringContaining('done')]);
});
