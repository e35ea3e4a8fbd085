import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { LookupSubject } from '@vat/domain';
import { listenLocally } from '@vat/testkit/local-server';
import { createViesClient, type ViesClient } from './create-vies-client.js';

const LOOKUP: LookupSubject = { memberState: 'DE', national: '123456789', requester: null, trader: null };
const VALID = JSON.stringify({ countryCode: 'DE', vatNumber: '123456789', valid: true, name: '---', address: '---' });
const AT_NOON = new Date('2026-11-03T12:00:00.000Z');

type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

/** Cleanups that run after each test, in reverse order. */
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const startServer = async (listener: RequestListener): Promise<{ baseUrl: string; server: Server }> => {
  const server = createServer(listener);
  const { url, close } = await listenLocally(server);
  closers.push(close);
  return { baseUrl: `${url}/rest-api/`, server };
};

const client = (baseUrl: string, attemptTimeoutMs = 5_000): ViesClient => {
  const made = createViesClient({ baseUrl, attemptTimeoutMs, userAgent: 'vat-test', now: () => AT_NOON });
  closers.push(made.close);
  return made;
};

const answering =
  (answer: (response: ServerResponse) => void, received: Received[] = []): RequestListener =>
  async (request, response) => {
    const { method = '', url = '', headers } = request;
    received.push({ method, url, headers, body: Buffer.concat(await request.toArray()).toString() });
    answer(response);
  };

const sendValid = (response: ServerResponse) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(VALID);
const lookupAnswered = async (answer: (response: ServerResponse) => void, attemptTimeoutMs?: number) => {
  const { baseUrl } = await startServer(answering(answer));
  const started = performance.now();
  const answered = await client(baseUrl, attemptTimeoutMs).lookUp(LOOKUP);
  return { ...answered, tookMs: performance.now() - started };
};
const noAnswer = (outcome: string, detail: unknown) => ({
  kind: 'no_answer',
  outcome,
  code: null,
  scope: null,
  detail,
});

describe('a lookup', () => {
  test('posts the number to the REST base and records the exchange byte for byte', async () => {
    const received: Received[] = [];
    const { baseUrl } = await startServer(
      answering((response) => {
        const headers = {
          'content-type': 'application/json',
          'x-request-id': 'abc',
          'set-cookie': 'a=secret',
          'x-other': '1',
        };
        response.writeHead(200, headers).end(VALID);
      }, received),
    );
    const { outcome, exchange } = await client(baseUrl).lookUp(LOOKUP);

    expect(outcome).toMatchObject({ kind: 'verdict', valid: true });
    const [request] = received;
    expect(request).toMatchObject({ method: 'POST', url: '/rest-api/check-vat-number' });
    expect(JSON.parse(request?.body ?? '')).toEqual({ countryCode: 'DE', vatNumber: '123456789' });
    expect(exchange.request.headers).toEqual(request?.headers);
    expect(Buffer.from(exchange.request.body).toString()).toBe(request?.body);
    expect(exchange).toMatchObject({ source: 'vies', startedAt: AT_NOON, error: null });
    expect(exchange.request).toMatchObject({ method: 'POST', url: `${baseUrl}check-vat-number` });
    expect(exchange.response).toMatchObject({ status: 200, complete: true });
    expect(exchange.response?.headers).toMatchObject({ 'content-type': 'application/json', 'x-request-id': 'abc' });
    expect(Object.keys(exchange.response?.headers ?? {})).not.toEqual(expect.arrayContaining(['set-cookie']));
    expect(Object.keys(exchange.response?.headers ?? {})).not.toEqual(expect.arrayContaining(['x-other']));
    expect(Buffer.from(exchange.response?.body ?? []).toString()).toBe(VALID);
  });

  test('sends requester and trader under the names of VIES, and only given fields', async () => {
    const received: Received[] = [];
    const { baseUrl } = await startServer(answering(sendValid, received));
    await client(baseUrl).lookUp({
      ...LOOKUP,
      requester: { memberState: 'EL', national: '094259216' },
      trader: { name: 'Żółć AG', postal_code: '10115', street: '' },
    });
    expect(JSON.parse(received[0]?.body ?? '')).toEqual({
      countryCode: 'DE',
      vatNumber: '123456789',
      requesterMemberStateCode: 'EL',
      requesterNumber: '094259216',
      traderName: 'Żółć AG',
      traderPostalCode: '10115',
    });
  });

  test('reuses one connection', async () => {
    const { baseUrl, server } = await startServer(answering(sendValid));
    let connections = 0;
    server.on('connection', () => {
      connections += 1;
    });
    const { lookUp } = client(baseUrl);
    for (let count = 0; count < 20; count += 1) expect((await lookUp(LOOKUP)).outcome.kind).toBe('verdict');
    expect(connections).toBe(1);
  });

  test('closes an idle connection, but not one that waits for its answer', async () => {
    const { baseUrl, server } = await startServer(answering((response) => setTimeout(sendValid, 200, response)));
    server.keepAliveTimeout = 0; // otherwise the server closes the connection first
    const connected = once(server, 'connection');
    const made = createViesClient({ baseUrl, attemptTimeoutMs: 5_000, idleConnectionMs: 50 });
    closers.push(made.close);
    const answer = made.lookUp(LOOKUP);
    const [socket] = await connected;
    const closed = once(socket, 'close');
    expect((await answer).outcome.kind).toBe('verdict');
    await closed;
  });

  test('makes lookups for all member states at the same time', async () => {
    const { baseUrl } = await startServer(answering((response) => setTimeout(sendValid, 50, response)));
    const { lookUp } = client(baseUrl);
    const answers = await Promise.all(Array.from({ length: 56 }, () => lookUp(LOOKUP)));
    expect(answers.filter(({ outcome }) => outcome.kind === 'verdict')).toHaveLength(56);
  });

  test('does not follow a redirect', async () => {
    const received: Received[] = [];
    const { baseUrl } = await startServer(
      answering((response) => response.writeHead(307, { location: '/elsewhere' }).end(), received),
    );
    const { outcome } = await client(baseUrl).lookUp(LOOKUP);
    expect(outcome).toEqual(noAnswer('unavailable', 'HTTP 307'));
    expect(received).toHaveLength(1);
  });

  test.each([
    ['429', '7', 7_000, (response: ServerResponse) => response.writeHead(429, { 'retry-after': '7' }).end('no')],
    [
      '503',
      'a date in an hour',
      60_000,
      (response: ServerResponse) =>
        response.writeHead(503, { 'retry-after': 'Tue, 03 Nov 2026 13:00:00 GMT', date: AT_NOON.toUTCString() }).end(),
    ],
    [
      '200 with an error',
      '3',
      3_000,
      (response: ServerResponse) =>
        response.writeHead(200, { 'retry-after': '3' }).end('{"errorWrappers":[{"error":"SERVICE_UNAVAILABLE"}]}'),
    ],
    [
      '503 that is cut short',
      '3',
      3_000,
      (response: ServerResponse) => {
        response.writeHead(503, { 'retry-after': '3', 'content-length': 99 });
        response.write('{', () => response.socket?.destroy());
      },
    ],
  ])('reads a %s as no answer and returns its Retry-After: %s', async (_kind, _value, ms, answer) => {
    const { outcome, exchange } = await lookupAnswered(answer);
    expect(outcome).toMatchObject({ kind: 'no_answer', retryAfter: { ms, scope: 'global' } });
    expect(exchange.response?.headers['retry-after']).toBeDefined();
  });

  test('returns no delay without a Retry-After', async () => {
    const { outcome } = await lookupAnswered((response) => response.writeHead(429).end('no'));
    expect(outcome).toEqual(noAnswer('unavailable', 'HTTP 429'));
  });

  test('sends one request, whatever its result', async () => {
    const received: Received[] = [];
    const { baseUrl } = await startServer(answering((response) => response.writeHead(503).end(), received));
    await client(baseUrl).lookUp(LOOKUP);
    expect(received).toHaveLength(1);
  });
});

describe('an upstream that gives no answer', () => {
  test('that hangs is a time-out at the deadline', async () => {
    const { outcome, exchange, tookMs } = await lookupAnswered(() => undefined, 300);
    expect(outcome).toEqual(noAnswer('timeout', 'no complete answer within 300 ms'));
    expect(exchange).toMatchObject({ response: null, error: 'no complete answer within 300 ms' });
    expect(tookMs).toBeGreaterThan(280);
    expect(exchange.durationMs).toBeGreaterThan(280);
    expect(exchange.durationMs).toBeLessThanOrEqual(tookMs + 1);
  });

  test('that answers byte by byte without end is a time-out, and the received bytes are stored', async () => {
    const { outcome, exchange } = await lookupAnswered((response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('{'), 50);
      response.once('close', () => clearInterval(timer));
    }, 400);
    expect(outcome).toMatchObject({ kind: 'no_answer', outcome: 'timeout' });
    expect(exchange.response).toMatchObject({ status: 200, complete: false });
    expect(Buffer.from(exchange.response?.body ?? []).toString()).toMatch(/^\{+$/);
  });

  test('that resets the connection is unavailable', async () => {
    const { outcome, exchange } = await lookupAnswered((response) => response.socket?.resetAndDestroy());
    expect(outcome).toEqual(noAnswer('unavailable', 'connection reset'));
    expect(exchange.response).toBeNull();
    expect(exchange.error).toMatch(/^RequestError: .+/);
  });

  test('that closes the connection after half an answer is unavailable, and the half is stored', async () => {
    const half = VALID.slice(0, 40);
    const { outcome, exchange } = await lookupAnswered((response) => {
      response.writeHead(200, { 'content-length': VALID.length });
      response.write(half, () => response.socket?.destroy());
    });
    expect(outcome).toMatchObject({ kind: 'no_answer', outcome: 'unavailable' });
    expect(exchange.response).toMatchObject({ status: 200, complete: false });
    expect(Buffer.from(exchange.response?.body ?? []).toString()).toBe(half);
    expect(exchange.error).not.toBeNull();
  });

  test('that sends an endless answer is cut off at 256 KiB', async () => {
    let written = 0;
    const { outcome, exchange } = await lookupAnswered((response) => {
      const pipeWithLimit = () => {
        do written += 65_536;
        while (response.write(Buffer.alloc(65_536, 'A')));
      };
      response.writeHead(200).on('drain', pipeWithLimit);
      pipeWithLimit();
    });
    expect(outcome).toEqual(noAnswer('unavailable', 'an answer over 262144 bytes'));
    expect(exchange.response).toMatchObject({ complete: false });
    expect(exchange.response?.body.byteLength).toBe(262_144);
    expect(written).toBeLessThan(32 * 1024 * 1024); // socket buffers, not the whole stream
  });

  test('that switches protocols is unavailable at once', async () => {
    const { outcome, tookMs } = await lookupAnswered((response) => {
      response.socket?.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n');
    });
    expect(outcome).toEqual(noAnswer('unavailable', 'HTTP 101'));
    expect(tookMs).toBeLessThan(2_000);
  });

  test('that does not speak HTTP is unavailable', async () => {
    const { outcome } = await lookupAnswered((response) => response.socket?.end('220 mail ready\r\n'));
    expect(outcome).toEqual(noAnswer('unavailable', 'an answer that is not HTTP'));
  });

  test('that compresses without a request is not decompressed', async () => {
    const { outcome, exchange } = await lookupAnswered((response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(Buffer.from([0x1f, 0x8b, 8, 0]));
    });
    expect(outcome).toMatchObject({ outcome: 'unavailable', detail: expect.stringContaining('gzip') });
    expect(exchange.response?.body.byteLength).toBe(4);
  });

  test('that is not reachable is unavailable', async () => {
    const { baseUrl, server } = await startServer(() => undefined);
    const closed = once(server, 'close');
    server.close();
    await closed;
    closers.pop();
    const { outcome } = await client(baseUrl).lookUp(LOOKUP);
    expect(outcome).toEqual(noAnswer('unavailable', 'connection refused'));
  });

  test.each(['nonsense', '', 'ftp://127.0.0.1/x', 'http://'])('has no address: %j', async (baseUrl) => {
    const { outcome, exchange } = await client(baseUrl).lookUp(LOOKUP);
    expect(outcome).toEqual(noAnswer('unavailable', 'the upstream address is not an http(s) URL'));
    expect(exchange.response).toBeNull();
  });
});

describe('aborting a lookup', () => {
  const hanging = async () => {
    const { baseUrl, server } = await startServer(() => undefined);
    const made = client(baseUrl);
    const controller = new AbortController();
    const requested = once(server, 'request');
    const answer = made.lookUp(LOOKUP, controller.signal);
    await requested;
    return { made, controller, answer };
  };

  test('an abort gives a time-out with the detail aborted, at once', async () => {
    const { controller, answer } = await hanging();
    controller.abort();
    const { outcome, exchange } = await answer;
    expect(outcome).toEqual(noAnswer('timeout', 'aborted'));
    expect(exchange.durationMs).toBeLessThan(2_000);
  });

  test('an abort before the lookup sends nothing', async () => {
    const received: Received[] = [];
    const { baseUrl } = await startServer(answering(sendValid, received));
    const { outcome } = await client(baseUrl).lookUp(LOOKUP, AbortSignal.abort());
    expect(outcome).toEqual(noAnswer('timeout', 'aborted'));
    expect(received).toEqual([]);
  });

  test('closing the client aborts lookups in flight and later ones', async () => {
    const { made, answer } = await hanging();
    await made.close();
    expect((await answer).outcome).toEqual(noAnswer('timeout', 'aborted'));
    expect((await made.lookUp(LOOKUP)).outcome).toEqual(noAnswer('timeout', 'aborted'));
  });
});

describe('credentials in the address', () => {
  test('are neither sent nor stored', async () => {
    const received: Received[] = [];
    const { baseUrl } = await startServer(answering(sendValid, received));
    const { exchange } = await client(baseUrl.replace('http://', 'http://user:secret@')).lookUp(LOOKUP);
    expect(received[0]?.headers.authorization).toBeUndefined();
    expect(JSON.stringify(exchange)).not.toContain('secret');
  });
});
