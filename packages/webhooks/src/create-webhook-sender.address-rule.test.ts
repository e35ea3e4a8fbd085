import { once } from 'node:events';
import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import { createTestAuthority, type LocalServer } from '@vat/testkit';
import { connectGuarded } from './connections.js';
import { createWebhookSender, type WebhookSender } from './create-webhook-sender.js';
import { type LocalDns, startLocalDns, type Zone } from './local-dns.fixture.js';
import { answering, startRawReceiver, startReceiver } from './local-receiver.fixture.js';
import { createNameResolver } from './resolve-name.js';
import { parseNetworks } from './validate-address.js';
import { validateUrl } from './validate-url.js';

/**
 * A plain TCP listener on loopback, which counts all connections to a forbidden address, at whatever layer they fail.
 */
let forbidden: LocalServer;
let dns: LocalDns;
let guarded: WebhookSender;
beforeAll(async () => {
  forbidden = await startRawReceiver((socket) => socket.destroy());
  dns = await startLocalDns();
  guarded = createWebhookSender({ timeoutMs: 2_000, allowed: [], resolver: [dns.server] });
});
afterAll(async () => {
  await guarded.close();
  await dns.close();
  await forbidden.close();
});
/** Closed after each test in reverse order, also after a failed one. */
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  expect(forbidden.connections()).toBe(0);
});

const sendTo = (url: string, from = guarded) => from.send({ url, headers: {}, body: '{}' });

describe('without a connection', () => {
  test.each([
    '127.0.0.1',
    '127.0.0.1.',
    '127.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '①②⑦.0.0.1',
    '0.0.0.0',
    '[::]',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::]',
    'localhost',
    'localhost.',
    'hook.localhost',
  ])('a delivery to %s is refused for its address', async (host) => {
    const result = await sendTo(`https://${host}:${forbidden.port}/`);
    expect(result).toMatchObject({ statusCode: null, address: null });
    expect(result.error).toMatch(/^ADDRESS_REFUSED: address: /);
  });

  test.each([
    ['http://127.0.0.1:PORT/', 'scheme'],
    ['https://a@127.0.0.1:PORT/', 'user_info'],
    ['https://127.0.0.1:22/', 'port'],
    ['https://127.0.0.1:PORT\\@example.com/', 'form'],
    ['', 'form'],
    [`https://127.0.0.1:PORT/${'a'.repeat(2_048)}`, 'length'],
  ])('a delivery to %s is refused for its %s', async (url, rule) => {
    const result = await sendTo(url.replace('PORT', String(forbidden.port)));
    expect(result.error).toMatch(new RegExp(`^ADDRESS_REFUSED: ${rule}: `));
  });

  test.each<[string, Zone]>([
    ['loopback', { a: ['127.0.0.1'] }],
    ['loopback last among public ones', { a: ['93.184.215.14', '1.1.1.1', '127.0.0.1'] }],
    ['loopback first among public ones', { a: ['127.0.0.1', '93.184.215.14'] }],
    ['public, and an IPv6 loopback', { a: ['93.184.215.14'], aaaa: ['::1'] }],
    ['public, and a mapped loopback', { a: ['93.184.215.14'], aaaa: ['::ffff:127.0.0.1'] }],
    ['the unspecified one', { a: ['0.0.0.0'] }],
  ])('a delivery to a name with an answer that is %s is refused', async (_title, zone) => {
    dns.zones.set('hook.example', zone);
    const result = await sendTo(`https://hook.example:${forbidden.port}/`);
    expect(result).toMatchObject({ statusCode: null, address: null });
    expect(result.error).toMatch(/^ADDRESS_REFUSED: address: The name hook\.example has an address that is /);
  });

  test('a name that was public when it was saved is refused when it later resolves to loopback', async () => {
    const url = `https://rebinding.example:${forbidden.port}/`;
    const resolver = createNameResolver({ servers: [dns.server] });
    closers.push(async () => resolver.close());
    dns.zones.set('rebinding.example', { a: ['93.184.215.14'] });
    expect(await validateUrl(url, { resolve: resolver.resolve, allowed: [] })).toEqual({ ok: true, url });
    dns.zones.set('rebinding.example', { a: ['127.0.0.1'] });
    expect((await sendTo(url)).error).toMatch(/^ADDRESS_REFUSED: address: /);
  });

  test('the connector itself refuses literals and resolved addresses', async () => {
    const connect = connectGuarded([], createSecureContext());
    const failure = async (host: string, address?: string): Promise<unknown> => {
      const lookup: LookupFunction = (_name, _options, done) => done(null, address ?? '', 4);
      try {
        const socket = connect({ host, port: forbidden.port, ...(address && { lookup }) });
        return (await once(socket, 'error'))[0];
      } catch (error) {
        return error;
      }
    };
    expect(await failure('127.0.0.1')).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
    expect(await failure('::1')).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
    expect(await failure('hook.example', '127.0.0.1')).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
    expect(await failure('hook.example')).toMatchObject({ code: 'ERR_ADDRESS_REFUSED' });
  });
});

test('a name whose answer changes between two attempts is refused although an idle connection exists', async () => {
  const authority = await createTestAuthority();
  const identity = await authority.issue({ dns: ['moving.example'] });
  const receiver = await startReceiver(
    identity,
    answering((response) => response.end()),
  );
  closers.push(receiver.close);
  // Here 127.0.0.1 represents the public address and 127.0.0.2 a private one.
  const sender = createWebhookSender({
    timeoutMs: 2_000,
    allowed: parseNetworks('127.0.0.1'),
    resolver: [dns.server],
    ca: [authority.ca],
  });
  closers.push(sender.close);
  const url = `https://moving.example:${receiver.port}/`;
  dns.zones.set('moving.example', { a: ['127.0.0.1'] });
  expect(await sendTo(url, sender)).toMatchObject({ statusCode: 200, address: '127.0.0.1' });
  dns.zones.set('moving.example', { a: ['127.0.0.2'] });
  expect((await sendTo(url, sender)).error).toMatch(/^ADDRESS_REFUSED: address: /);
  dns.zones.set('moving.example', { a: ['127.0.0.1'] });
  expect(await sendTo(url, sender)).toMatchObject({ statusCode: 200, timings: { tcpMs: null } });
  expect(receiver.connections()).toBe(1);
});

test('a redirect to a forbidden address is not followed', async () => {
  const authority = await createTestAuthority();
  const identity = await authority.issue({ ip: ['127.0.0.1'] });
  const location = `https://127.0.0.2:${forbidden.port}/`;
  const receiver = await startReceiver(
    identity,
    answering((response) => response.writeHead(307, { location }).end()),
  );
  closers.push(receiver.close);
  const sender = createWebhookSender({ timeoutMs: 2_000, allowed: parseNetworks('127.0.0.1'), ca: [authority.ca] });
  closers.push(sender.close);
  expect(await sendTo(`https://127.0.0.1:${receiver.port}/`, sender)).toMatchObject({ statusCode: 307, error: null });
});
