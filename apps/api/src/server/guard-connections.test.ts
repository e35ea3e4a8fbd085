import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vat/testkit';
import { openRaw, type RawConnection } from '../raw-connection.fixture.js';
import { type CloseReason, guardConnections, MAX_QUEUED_REQUESTS } from './guard-connections.js';

const STALLED_MS = 200;
const IDLE_MS = 400;
/** More than the kernel takes of a connection that nobody reads. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 120);
/** The kernel takes more only when a third of what it holds, four megabytes, is gone. */
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
  const guard = guardConnections(server, { stalledMs: STALLED_MS, idleMs: IDLE_MS }, (reason) => closed.push(reason));
  const handle = guard((req, res) => {
    handled += 1;
    if (req.url === '/large') res.end(LARGE);
    else if (req.url === '/') res.end('done');
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
/** Sends an empty line now and then, which HTTP allows before a request, and which restarts Node's time-outs. */
const drip = () => {
  dripping = setInterval(() => connection.send('\r\n'), STALLED_MS / 10);
};

test('a connection that carries no request is closed, although its client sends empty lines', async () => {
  await open();
  connection.send(CALL);
  await until('the answer', () => connection.text().endsWith('done'));
  drip();
  await until('the end', connection.isClosed);
  expect(closed).toEqual(['idle']);
});

test('a client that takes nothing of its response is closed, although it sends empty lines', async () => {
  await open(true);
  connection.send(CALL.replace('/', '/large'));
  drip();
  await until('the connection to be closed', () => closed.length > 0);
  connection.resume();
  await until('the client to see it', connection.isClosed);
  expect(closed).toEqual(['stalled']);
});

test('a client that takes one large piece slowly is not closed', async () => {
  await open(true);
  connection.send(CALL.replace('/', '/large').replace('Host', 'Connection: close\r\nHost'));
  // In six times as long as a client may take nothing.
  for (let piece = 0; piece < 12; piece += 1) {
    await connection.readPiece(PIECE);
    const pausedAt = performance.now();
    await until('a while', () => performance.now() - pausedAt > STALLED_MS / 2);
  }
  expect(connection.text().length).toBeLessThan(LARGE.length);
  connection.resume();
  await until('the rest', () => connection.text().length > LARGE.length);
  expect(closed).toEqual([]);
});

test('a request without an answer, and what is queued behind it, is left alone; with one more the connection is closed', async () => {
  await open();
  connection.send(CALL.replace('/', '/never') + CALL.repeat(MAX_QUEUED_REQUESTS));
  drip();
  const startedAt = performance.now();
  await until('longer than an idle connection may live', () => performance.now() - startedAt > 2 * IDLE_MS);
  expect([closed, connection.isClosed()]).toEqual([[], false]);
  connection.send(CALL.replace('Host', 'Expect: 100-continue\r\nHost').repeat(500));
  await until('the end', connection.isClosed);
  // Of what is queued nothing is begun before its turn.
  expect([closed, handled, connection.text()]).toEqual([['pipelined'], 1, '']);
});
