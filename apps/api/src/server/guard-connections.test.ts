import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@vat/testkit';
import { openRaw, type RawConnection } from '../raw-connection.fixture.js';
import { type CloseReason, guardConnections } from './guard-connections.js';

const STALLED_MS = 200;
const IDLE_MS = 400;
/** More than the kernel takes of a connection that nobody reads. */
const LARGE = Buffer.alloc(32 * 1024 * 1024, 120);
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
  // A look reads what the kernel has for it, about a tenth of the time in which it would be closed.
  await until(
    'all of it',
    async () => {
      const had = connection.text().length;
      connection.resume();
      await until('a piece', () => connection.text().length > had || connection.isClosed());
      connection.pause();
      return connection.text().length > LARGE.length;
    },
    20_000,
  );
  expect(closed).toEqual([]);
});

test('a request without an answer, and what is queued behind it, is left alone; of one queued too many no more is handled', async () => {
  await open();
  connection.send(CALL.replace('/', '/never') + CALL.repeat(32));
  await until('all to be handled', () => handled === 33);
  drip();
  await until(
    'longer than an idle connection may live',
    async () => (await passed(2 * IDLE_MS)) && closed.length === 0,
  );
  connection.send(CALL.replace('Host', 'Expect: 100-continue\r\nHost').repeat(500));
  await until('the end', connection.isClosed);
  expect([closed, handled]).toEqual([['pipelined'], 33]);
});

const passed = async (ms: number): Promise<boolean> => {
  const startedAt = performance.now();
  return until('time to pass', () => performance.now() - startedAt > ms);
};
