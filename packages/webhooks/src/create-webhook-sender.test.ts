import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestAuthority, type Identity, type LocalServer, type TestAuthority } from '@vat/testkit';
import { createWebhookSender, type WebhookSender } from './create-webhook-sender.js';
import { type LocalDns, startLocalDns } from './local-dns.fixture.js';
import { answering, type Received, startRawReceiver, startReceiver } from './local-receiver.fixture.js';
import { attemptSucceeded } from './post-attempt.js';
import { signDelivery } from './sign-delivery.js';
import { parseNetworks } from './validate-address.js';

const AT = new Date('2026-11-20T09:14:04.000Z');
const BODY = '{"event":"webhook.test","note":"Größe €"}';
const LOOPBACK = parseNetworks('127.0.0.0/8');

let dns: LocalDns;
let authority: TestAuthority;
let identity: Identity;
beforeAll(async () => {
  dns = await startLocalDns();
  dns.zones.set('receiver.test', { a: ['127.0.0.1'] });
  authority = await createTestAuthority();
  identity = await authority.issue({ dns: ['receiver.test'], ip: ['127.0.0.1'] });
});
afterAll(() => dns.close());

/** Closed after each test in reverse order. */
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const receiving = async (starting: Promise<LocalServer>): Promise<LocalServer> => {
  const receiver = await starting;
  closers.push(receiver.close);
  return receiver;
};
const sender = (options: Partial<Parameters<typeof createWebhookSender>[0]> = {}): WebhookSender => {
  const made = createWebhookSender({
    timeoutMs: 5_000,
    allowed: LOOPBACK,
    resolver: [dns.server],
    ca: [authority.ca],
    now: () => AT,
    ...options,
  });
  closers.push(made.close);
  return made;
};
const attempt = (url: string) => ({ url, headers: { 'content-type': 'application/json' }, body: BODY });

describe('an attempt', () => {
  test('posts the given bytes and headers, and returns the answer with its timings', async () => {
    const received: Received[] = [];
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => response.writeHead(200).end('thanks'), received),
      ),
    );
    const headers = signDelivery({
      secret: 'whsec_AAAA',
      eventId: 'evt_1',
      eventType: 'webhook.test',
      deliveryId: 'dlv_1',
      body: BODY,
      at: AT,
    });
    const url = `https://receiver.test:${receiver.port}/hook?a=b`;
    const result = await sender().send({ url, headers, body: BODY });

    expect(result).toMatchObject({
      at: AT,
      statusCode: 200,
      error: null,
      address: '127.0.0.1',
      answerTruncated: false,
    });
    expect(result.answer.toString()).toBe('thanks');
    expect(attemptSucceeded(result)).toBe(true);
    for (const ms of Object.values(result.timings)) expect(Number.isInteger(ms)).toBe(true);
    expect(result.durationMs).toBe(result.timings.totalMs);
    expect(received).toMatchObject([{ method: 'POST', url: '/hook?a=b', body: BODY }]);
    const lowered = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
    expect(received[0]?.headers).toMatchObject({
      ...lowered,
      host: `receiver.test:${receiver.port}`,
      'content-length': String(Buffer.byteLength(BODY)),
    });
    expect(received[0]?.headers).not.toHaveProperty('accept-encoding');
    expect(received[0]?.headers).not.toHaveProperty('transfer-encoding');
  });

  test('reuses an idle connection, and still resolves the name', async () => {
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => response.writeHead(204).end()),
      ),
    );
    const { send } = sender();
    const url = `https://receiver.test:${receiver.port}/`;
    await send(attempt(url));
    const lookedUpOnce = dns.queries.length;
    for (let n = 0; n < 4; n += 1) {
      const result = await send(attempt(url));
      expect(result).toMatchObject({ statusCode: 204, error: null, address: '127.0.0.1' });
      expect(result.timings).toMatchObject({ tcpMs: null, tlsMs: null, firstByteMs: expect.any(Number) });
    }
    expect(receiver.connections()).toBe(1);
    expect(dns.queries).toHaveLength(lookedUpOnce + 8);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['was closed after its answer, as announced', (response) => response.writeHead(204, { connection: 'close' }).end()],
    ['was closed while it was idle', (response) => response.writeHead(204).end(() => response.socket?.end())],
  ])('opens a new connection when the idle one %s', async (_title, answer) => {
    const closed: Promise<unknown>[] = [];
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => {
          if (response.socket) closed.push(once(response.socket, 'close'));
          answer(response);
        }),
      ),
    );
    const { send } = sender();
    for (let n = 1; n <= 3; n += 1) {
      const result = await send(attempt(`https://127.0.0.1:${receiver.port}/`));
      expect(result).toMatchObject({ statusCode: 204, error: null, timings: { tcpMs: expect.any(Number) } });
      expect(receiver.connections()).toBe(n);
      await closed.at(-1);
    }
  });

  test('uses the final answer, not the interim one', async () => {
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => response.writeEarlyHints({ link: '</a>; rel=preload' }, () => response.end('done'))),
      ),
    );
    const result = await sender().send(attempt(`https://127.0.0.1:${receiver.port}/`));
    expect(result).toMatchObject({ statusCode: 200, error: null, answer: Buffer.from('done') });
  });

  test('to a literal needs no name resolution and verifies the certificate for the address', async () => {
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => response.end('ok')),
      ),
    );
    const before = dns.queries.length;
    const result = await sender().send(attempt(`https://127.0.0.1:${receiver.port}/`));
    expect(result).toMatchObject({ statusCode: 200, error: null, timings: { dnsMs: null } });
    expect(dns.queries).toHaveLength(before);
  });

  test('may take longer than the idle time-out of a connection', async () => {
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => setTimeout(() => response.end('late'), 200)),
      ),
    );
    const result = await sender({ idleConnectionMs: 30 }).send(attempt(`https://receiver.test:${receiver.port}/`));
    expect(result).toMatchObject({ statusCode: 200, error: null });
  });

  test('tries the next address of a name when the first refuses connections', async () => {
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => response.end()),
      ),
    );
    dns.zones.set('receiver.test', { a: ['127.0.0.2', '127.0.0.3', '127.0.0.1'] });
    const result = await sender().send(attempt(`https://receiver.test:${receiver.port}/`));
    dns.zones.set('receiver.test', { a: ['127.0.0.1'] });
    expect(result).toMatchObject({ statusCode: 200, error: null, address: '127.0.0.1' });
  });

  test.each([301, 302, 307, 308, 400, 404, 410, 429, 500, 503])(
    'answered %i has failed, without an error',
    async (status) => {
      const received: Received[] = [];
      const receiver = await receiving(
        startReceiver(
          identity,
          answering((response) => response.writeHead(status, { location: '/elsewhere' }).end('no'), received),
        ),
      );
      const result = await sender().send(attempt(`https://receiver.test:${receiver.port}/`));
      expect(result).toMatchObject({ statusCode: status, error: null });
      expect(attemptSucceeded(result)).toBe(false);
      expect(received).toHaveLength(1);
    },
  );

  test('ignores the proxy of the environment, and trusts its additional certificates', async () => {
    const proxy = await receiving(startRawReceiver());
    const receiver = await receiving(
      startReceiver(
        identity,
        answering((response) => response.writeHead(202).end()),
      ),
    );
    const folder = await mkdtemp(join(tmpdir(), 'webhooks-'));
    closers.push(() => rm(folder, { recursive: true }));
    const certificates = join(folder, 'ca.pem');
    await writeFile(certificates, authority.ca);

    // A separate process: both are read from the environment, the certificates only when a process starts.
    const code = `
      const { createWebhookSender, parseNetworks } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
      const sender = createWebhookSender({ timeoutMs: 5000, allowed: parseNetworks('127.0.0.0/8') });
      const url = 'https://127.0.0.1:${receiver.port}/';
      const { statusCode, error } = await sender.send({ url, headers: {}, body: '{}' });
      await sender.close();
      console.log(JSON.stringify({ statusCode, error }));`;
    const names = ['HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'HTTP_PROXY', 'http_proxy'];
    const proxies = Object.fromEntries(names.map((name) => [name, `http://127.0.0.1:${proxy.port}`]));
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=development', '--import', 'tsx', '--input-type=module', '-e', code],
      { env: { ...proxies, NODE_USE_ENV_PROXY: '1', NODE_EXTRA_CA_CERTS: certificates } },
    );
    expect(JSON.parse(stdout)).toEqual({ statusCode: 202, error: null });
    expect(proxy.connections()).toBe(0);
  });
});

describe('a receiver that cannot be trusted or reached', () => {
  test.each<[string, () => Promise<{ identity: Identity; ca?: string[] }>, string]>([
    ['an unknown authority', async () => ({ identity, ca: [] }), 'TLS: '],
    [
      'a certificate for another name',
      async () => ({ identity: await authority.issue({ dns: ['other.test'] }) }),
      'TLS: ',
    ],
    [
      'an expired certificate',
      async () => ({
        identity: await authority.issue({ dns: ['receiver.test'], notAfter: new Date(Date.now() - 1_000) }),
      }),
      'TLS: certificate has expired (CERT_HAS_EXPIRED)',
    ],
  ])('with %s gets no request', async (_title, prepare, error) => {
    const received: Received[] = [];
    const { identity: shown, ca = [authority.ca] } = await prepare();
    const receiver = await receiving(
      startReceiver(
        shown,
        answering((response) => response.end(), received),
      ),
    );
    const result = await sender({ ca }).send(attempt(`https://receiver.test:${receiver.port}/`));
    expect(result).toMatchObject({ statusCode: null, error: expect.stringContaining(error), address: '127.0.0.1' });
    expect(received).toHaveLength(0);
  });

  test('because its port is closed', async () => {
    const receiver = await startRawReceiver();
    await receiver.close();
    const result = await sender().send(attempt(`https://receiver.test:${receiver.port}/`));
    expect(result).toMatchObject({ statusCode: null, error: expect.stringMatching(/^CONNECTION_REFUSED: /) });
    expect(result.address).toBe('127.0.0.1');
  });

  test('because its name does not exist', async () => {
    const result = await sender().send(attempt('https://gone.test/'));
    expect(result).toMatchObject({ statusCode: null, address: null, timings: { dnsMs: expect.any(Number) } });
    expect(result.error).toBe('DNS: The name gone.test does not resolve (ENOTFOUND).');
  });
});

describe('cancellation', () => {
  const hanging = async () => receiving(startReceiver(identity, () => {}));

  test('ends an attempt at once', async () => {
    const receiver = await hanging();
    const control = new AbortController();
    const sending = sender().send({ ...attempt(`https://receiver.test:${receiver.port}/`), signal: control.signal });
    control.abort();
    expect(await sending).toMatchObject({ statusCode: null, error: expect.stringMatching(/^ABORTED: /) });
    const again = await sender().send({
      ...attempt(`https://receiver.test:${receiver.port}/`),
      signal: control.signal,
    });
    expect(again.error).toMatch(/^ABORTED: /);
  });

  test('ends all attempts in flight when the sender closes', async () => {
    const receiver = await hanging();
    const { send, close } = sender();
    const sending = [1, 2, 3].map(() => send(attempt(`https://receiver.test:${receiver.port}/`)));
    await close();
    for (const result of await Promise.all(sending)) expect(result.error).toMatch(/^ABORTED: /);
    expect((await send(attempt(`https://receiver.test:${receiver.port}/`))).error).toMatch(/^ABORTED: /);
  });
});
