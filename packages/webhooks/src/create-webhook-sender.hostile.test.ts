import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createTestAuthority, type Identity, type LocalServer, type TestAuthority } from '@vat/testkit';
import { createWebhookSender, type WebhookSender } from './create-webhook-sender.js';
import { type LocalDns, startLocalDns } from './local-dns.fixture.js';
import { answering, startRawReceiver, startReceiver, startTlsReceiver } from './local-receiver.fixture.js';
import type { AttemptResult } from './post-attempt.js';
import { attemptSucceeded } from './post-attempt.js';
import { parseNetworks } from './validate-address.js';

const TIMEOUT_MS = 400;
const PATIENCE_MS = 10_000;
/** The delay that a busy machine may add to the deadline. */
const GRACE_MS = 600;
const KIB = 1024;

let authority: TestAuthority;
let identity: Identity;
let dns: LocalDns;
/** One sender with a short deadline, and one whose deadline no busy machine reaches. */
let hasty: WebhookSender;
let patient: WebhookSender;
beforeAll(async () => {
  authority = await createTestAuthority();
  identity = await authority.issue({ ip: ['127.0.0.1'] });
  dns = await startLocalDns();
});
afterAll(() => dns.close());
beforeEach(() => {
  const make = (timeoutMs: number) =>
    createWebhookSender({
      timeoutMs,
      allowed: parseNetworks('127.0.0.0/8'),
      resolver: [dns.server],
      ca: [authority.ca],
    });
  hasty = make(TIMEOUT_MS);
  patient = make(PATIENCE_MS);
});

/** Closed after each test in reverse order. */
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await hasty.close();
  await patient.close();
  for (const close of closers.splice(0).reverse()) await close();
});

const sendTo = async (starting: Promise<LocalServer>, sender = patient): Promise<AttemptResult> => {
  const receiver = await starting;
  closers.push(receiver.close);
  return sender.send({ url: `https://127.0.0.1:${receiver.port}/`, headers: {}, body: '{}' });
};

/** Writes `chunk` as long as the other side reads. */
const pipeWithLimit = (to: ServerResponse | Socket, chunk: Buffer | string) => {
  const more = () => {
    while (!to.destroyed && to.write(chunk));
  };
  to.on('drain', more);
  more();
};
/** Writes `chunk` every few milliseconds until the other side disconnects. */
const drip = (to: ServerResponse | Socket, chunk: string) => {
  const timer = setInterval(() => to.write(chunk), 10);
  to.once('close', () => clearInterval(timer));
};

describe('an endless answer is cut off', () => {
  test('when the body exceeds the limit', async () => {
    let poured: Socket | null = null;
    const result = await sendTo(
      startReceiver(
        identity,
        answering((response) => {
          poured = response.socket;
          pipeWithLimit(response.writeHead(200), Buffer.alloc(64 * KIB, 'a'));
        }),
      ),
    );
    expect(result).toMatchObject({ statusCode: 200, error: null, answerTruncated: true });
    expect(result.answer.toString()).toBe('a'.repeat(2 * KIB));
    expect(attemptSucceeded(result)).toBe(true);
    // Only the bytes that fit into the buffers of two sockets were written.
    expect((poured as Socket | null)?.bytesWritten).toBeLessThan(16 * KIB * KIB);
  });

  test('when it would decompress to much more, without decompression', async () => {
    const bomb = gzipSync(Buffer.alloc(32 * KIB * KIB));
    const headers = { 'content-encoding': 'gzip', 'content-length': bomb.byteLength };
    const result = await sendTo(
      startReceiver(
        identity,
        answering((response) => response.writeHead(200, headers).end(bomb)),
      ),
    );
    expect(result).toMatchObject({ statusCode: 200, error: null, answerTruncated: true });
    expect(result.answer.equals(bomb.subarray(0, 2 * KIB))).toBe(true);
  });

  test('but one of a few KiB is read to its end, and the connection is reused', async () => {
    const starting = startReceiver(
      identity,
      answering((response) => response.end('a'.repeat(8 * KIB))),
    );
    const { connections } = await starting;
    expect(await sendTo(starting)).toMatchObject({ statusCode: 200, error: null, answerTruncated: true });
    expect((await sendTo(starting)).timings.tcpMs).toBeNull();
    expect(connections()).toBe(1);
  });
});

describe('the deadline ends an attempt', () => {
  const beforeTls = () => startRawReceiver();
  const slowTls = () => startRawReceiver((socket) => drip(socket, '\u0016'));
  const noAnswer = () => startReceiver(identity, () => {});
  const slowHead = () =>
    startTlsReceiver(identity, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n');
      drip(socket, 'a: b\r\n');
    });
  const informationOnly = () =>
    startTlsReceiver(identity, (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\n\r\n'));
  const slowBody = () =>
    startReceiver(
      identity,
      answering((response) => drip(response.writeHead(200), '.')),
    );
  const stalledBody = () =>
    startReceiver(
      identity,
      answering((response) => response.writeHead(200, { 'content-length': 10 }).write('half')),
    );

  test.each([
    ['silent before TLS', beforeTls, 'during the TLS handshake', null],
    ['without an answer', noAnswer, 'while waiting for an answer', null],
    ['with slow headers', slowHead, 'while waiting for an answer', null],
    ['sending only early hints', informationOnly, 'while waiting for an answer', null],
    ['with a slow body', slowBody, 'while reading the answer', 200],
    ['stalling in the body', stalledBody, 'while reading the answer', 200],
  ])('of a receiver %s', async (_title, start, phase, statusCode) => {
    const result = await sendTo(start(), hasty);
    expect(result).toMatchObject({
      statusCode,
      error: `TIMEOUT: no complete answer within ${TIMEOUT_MS} ms (${phase})`,
      address: '127.0.0.1',
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(TIMEOUT_MS - 1);
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS + GRACE_MS);
    // The head decides about a 2xx; the delivery log describes what happens to the body.
    expect(attemptSucceeded(result)).toBe(statusCode === 200);
  });

  test('of a receiver whose TLS handshake arrives byte by byte', async () => {
    const result = await sendTo(slowTls(), hasty);
    expect(result).toMatchObject({ statusCode: null, error: expect.stringMatching(/^(TIMEOUT|TLS): /) });
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS + GRACE_MS);
  });

  test('of a receiver whose name server is silent', async () => {
    dns.zones.set('silent.test', 'silent');
    const result = await hasty.send({ url: 'https://silent.test/', headers: {}, body: '{}' });
    expect(result).toMatchObject({
      statusCode: null,
      address: null,
      error: `TIMEOUT: no complete answer within ${TIMEOUT_MS} ms (while resolving the name)`,
    });
    expect(result.durationMs).toBeLessThan(TIMEOUT_MS + GRACE_MS);
  });
});

describe('failures are named', () => {
  const raw = (onRequest: (socket: TLSSocket) => void) => () =>
    startTlsReceiver(identity, (socket) => socket.once('data', () => onRequest(socket)));
  const speaking = (text: string) => raw((socket) => socket.end(text));

  test.each<[string, () => Promise<LocalServer>, RegExp, number | null]>([
    ['a reset before TLS', () => startRawReceiver((socket) => socket.resetAndDestroy()), /^CONNECTION_RESET: /, null],
    ['a reset instead of an answer', raw((socket) => socket.destroy()), /^CONNECTION_RESET: /, null],
    ['an end instead of an answer', raw((socket) => socket.end()), /^CONNECTION_RESET: /, null],
    [
      'a body that breaks off',
      speaking('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of it'),
      /^CONNECTION_RESET: /,
      200,
    ],
    [
      'chunks that break off',
      speaking('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\nhalf of it'),
      /^CONNECTION_RESET: /,
      200,
    ],
    ['an interim answer without a request', speaking('HTTP/1.1 100 Continue\r\n\r\n'), /^PROTOCOL: .*100/, null],
    ['plain HTTP', () => startRawReceiver((socket) => socket.end('HTTP/1.1 200 OK\r\n\r\n')), /^TLS: /, null],
    ['another protocol', speaking('220 mail.example ESMTP\r\n'), /^PROTOCOL: the answer is not HTTP/, null],
    ['an invalid status', speaking('HTTP/1.1 9999 OK\r\n\r\n'), /^PROTOCOL: /, null],
    ['a status below 100', speaking('HTTP/1.1 099 OK\r\n\r\n'), /^PROTOCOL: .*below 100/, null],
    [
      'two lengths',
      speaking('HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'),
      /^PROTOCOL: /,
      null,
    ],
    [
      'a protocol switch',
      speaking('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
      /^PROTOCOL: the receiver switched protocols$/,
      101,
    ],
    [
      'headers of 20 KiB',
      speaking(`HTTP/1.1 200 OK\r\na: ${'b'.repeat(20 * KIB)}\r\n\r\n`),
      /^PROTOCOL: the answer's headers are too large$/,
      null,
    ],
    ['endless headers', raw((socket) => pipeWithLimit(socket, 'a'.repeat(KIB))), /^PROTOCOL: /, null],
  ])('%s', async (_title, start, error, statusCode) => {
    const result = await sendTo(start());
    expect(result).toMatchObject({ statusCode, error: expect.stringMatching(error), address: '127.0.0.1' });
    expect(attemptSucceeded(result)).toBe(statusCode === 200);
  });
});

test('a hundred hanging receivers do not delay a healthy one', async () => {
  const hanging = await startReceiver(identity, () => {});
  closers.push(hanging.close);
  const url = `https://127.0.0.1:${hanging.port}/`;
  const stuck = Array.from({ length: 100 }, () => patient.send({ url, headers: {}, body: '{}' }));
  const healthy = await sendTo(
    startReceiver(
      identity,
      answering((response) => response.end()),
    ),
  );
  expect(healthy).toMatchObject({ statusCode: 200, error: null });
  await patient.close();
  for (const result of await Promise.all(stuck)) expect(result.error).toMatch(/^ABORTED: /);
});
