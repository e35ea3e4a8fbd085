import { type LocalDns, startLocalDns } from './local-dns.fixture.js';
import { startRawReceiver } from './local-receiver.fixture.js';
import { readEndpoint } from './read-endpoint.js';
import { createNameResolver, type NameResolver } from './resolve-name.js';
import { parseNetworks } from './validate-address.js';
import { validateUrl } from './validate-url.js';

const PUBLIC = { a: ['93.184.215.14'], aaaa: ['2606:2800:21f:cb07:6820:80da:af6b:8b2c'] };

let dns: LocalDns;
let resolver: NameResolver;
beforeAll(async () => {
  dns = await startLocalDns();
  resolver = createNameResolver({ servers: [dns.server] });
});
afterAll(async () => {
  resolver.close();
  await dns.close();
});

const validate = (url: string, allowed = '') =>
  validateUrl(url, { resolve: resolver.resolve, allowed: parseNetworks(allowed) });
const ruleOf = async (url: string) => {
  const result = await validate(url);
  return result.ok ? 'accepted' : result.rule;
};

describe('a URL that is refused without name resolution', () => {
  const fill = (length: number) => `https://example.com/${'a'.repeat(length - 'https://example.com/'.length)}`;

  test.each([
    ['', 'form'],
    ['   ', 'form'],
    ['not a url', 'form'],
    ['//example.com/', 'form'],
    ['/hook', 'form'],
    ['https:', 'form'],
    ['https://', 'form'],
    ['https:///example.com/', 'form'],
    ['https:example.com', 'form'],
    ['https:\\\\example.com\\', 'form'],
    ['https://example.com\\@127.0.0.1/', 'form'],
    ['https://exa\tmple.com/', 'form'],
    ['https://example.com/a b', 'form'],
    ['https://example.com/a\tb', 'form'],
    ['https://example.com/a\nb', 'form'],
    ['https://example.com/a\u0085b', 'form'],
    ['https://example.com/a\u2028b', 'form'],
    ['https://example.com/a\u007fb', 'form'],
    ['https://example.com/?a=\ud800', 'form'],
    ['ht\ttps://example.com/', 'form'],
    ['https://exa\u00admple.com/', 'form'],
    ['https://exa\u200bmple.com/', 'form'],
    ['https://example.com\ufeff/', 'form'],
    ['https://example.com/\u0000', 'form'],
    ['https://example.com/\r\nx-header: 1', 'form'],
    ['https://a..b/', 'form'],
    ['https://example.com../', 'form'],
    ['https://./', 'form'],
    ['https://256.256.256.256/', 'form'],
    ['https://1.2.3.4.5/', 'form'],
    ['https://[::1/', 'form'],
    ['https://[fe80::1%25eth0]/', 'form'],
    ['https://exa%00mple.com/', 'form'],
    ['https://\ud800/', 'form'],
    ['https://example.com:8a/', 'form'],
    ['http://example.com/', 'scheme'],
    ['HTTP://example.com/', 'scheme'],
    ['ftp://example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['javascript:alert(1)', 'scheme'],
    ['gopher://127.0.0.1:6379/_FLUSHALL', 'scheme'],
    ['example.com:443/hook', 'scheme'],
    ['https://user:pass@example.com/', 'user_info'],
    ['https://user@example.com/', 'user_info'],
    ['https://@example.com/', 'user_info'],
    ['https://:@example.com/', 'user_info'],
    ['https://example.com@127.0.0.1/', 'user_info'],
    ['https://example.com:22/', 'port'],
    ['https://example.com:80/', 'port'],
    ['https://example.com:0/', 'port'],
    ['https://example.com:1023/', 'port'],
    ['https://example.com:65536/', 'port'],
    ['https://example.com:999999999999/', 'port'],
    ['https://[2606:4700::1111]:25/', 'port'],
    [fill(2_049), 'length'],
    [`https://example.com/${'é'.repeat(2_049)}`, 'length'],
    [`https://example.com/${'😀'.repeat(2_029)}`, 'length'],
  ])('%j breaks the rule on %s', async (url, rule) => {
    const before = dns.queries.length;
    expect(await ruleOf(url)).toBe(rule);
    expect(dns.queries).toHaveLength(before);
  });

  test('2 048 characters are accepted unchanged', async () => {
    dns.zones.set('example.com', PUBLIC);
    const inPath = (character: string, count: number) => `https://example.com/${character.repeat(count)}`;
    for (const url of [fill(2_048), inPath('é', 2_028), inPath('😀', 2_028)]) {
      expect(await validate(url)).toEqual({ ok: true, url });
    }
  });
});

describe('a literal', () => {
  test.each([
    'https://127.0.0.1/',
    'https://127.1/',
    'https://127.0.0.1./',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://%31%32%37.0.0.1/',
    'https://１２７.0.0.1/',
    'https://①②⑦.⓪.⓪.①/',
    'https://127。0。0。1/',
    'https://0/',
    'https://10.0.0.1:8443/',
    'https://169.254.169.254/latest/meta-data/',
    'https://0xa9fea9fe/',
    'https://168.63.129.16/',
    'https://[::]/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]:8443/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::7f00:1]/',
    'https://[64:ff9b::10.0.0.1]/',
    'https://[2002:7f00:1::1]/',
    'https://[2001:db8::1]/',
    'https://[fd00:ec2::254]/',
    'https://[fe80::1]/',
    'https://[100:0:0:1::1]/',
    'https://localhost/',
    'https://LOCALHOST.:8443/',
    'https://hook.localhost/',
    'https://ｌｏｃａｌｈｏｓｔ/',
  ])('%s is refused for its address', async (url) => {
    expect(await ruleOf(url)).toBe('address');
  });

  test.each([
    ['https://8.8.8.8', 'https://8.8.8.8/'],
    ['https://0x08080808/a?b=c#d', 'https://8.8.8.8/a?b=c'],
    ['https://[2606:4700:4700:0:0:0:0:1111]:8443/x', 'https://[2606:4700:4700::1111]:8443/x'],
  ])('%s is public, stored unchanged and sent to as %s', async (url, sent) => {
    expect(await validate(url)).toEqual({ ok: true, url });
    expect(readEndpoint(url)).toMatchObject({ ok: true, url: { href: sent } });
  });

  test('in an allowed network is accepted, also as localhost', async () => {
    expect(await validate('https://127.0.0.1:8443/hook', '127.0.0.0/8')).toEqual({
      ok: true,
      url: 'https://127.0.0.1:8443/hook',
    });
    expect((await validate('https://localhost:8443/hook', '127.0.0.0/8')).ok).toBe(true);
    expect((await validate('https://[::1]:8443/hook', '127.0.0.0/8')).ok).toBe(false);
  });
});

describe('a name', () => {
  test.each<[string, Parameters<LocalDns['zones']['set']>[1], string]>([
    ['two public answers', PUBLIC, 'accepted'],
    ['IPv4 alone', { a: ['93.184.215.14'] }, 'accepted'],
    ['IPv6 alone', { aaaa: ['2606:4700::1111'] }, 'accepted'],
    ['a loopback answer', { a: ['127.0.0.1'] }, 'resolution'],
    ['a private answer last among public ones', { a: ['93.184.215.14', '1.1.1.1', '10.0.0.1'] }, 'resolution'],
    ['a public IPv4 and a loopback IPv6 answer', { a: ['93.184.215.14'], aaaa: ['::1'] }, 'resolution'],
    ['a mapped IPv6 answer', { a: ['93.184.215.14'], aaaa: ['::ffff:7f00:1'] }, 'resolution'],
    ['a metadata answer', { a: ['169.254.169.254'] }, 'resolution'],
    ['no address', {}, 'resolution'],
    ['a failing name server', 'failing', 'resolution'],
  ])('with %s is validated correctly', async (_title, zone, expected) => {
    dns.zones.set('hook.example', zone);
    expect(await ruleOf('https://hook.example/')).toBe(expected);
  });

  test('is refused with the same message whether it is missing, empty, broken, silent or internal', async () => {
    const url = 'https://internal.example/';
    const zones: Parameters<LocalDns['zones']['set']>[1][] = [
      ...[{}, 'failing' as const, 'silent' as const],
      ...['10.20.30.40', '127.0.0.1', '169.254.169.254', '100.64.0.1'].map((address) => ({ a: [address] })),
      { aaaa: ['fd00::1'] },
    ];
    dns.zones.delete('internal.example');
    const refusals = [await validate(url)];
    for (const zone of zones) {
      dns.zones.set('internal.example', zone);
      refusals.push(await validateUrl(url, { resolve: resolver.resolve, allowed: [], lookupDeadlineMs: 300 }));
    }
    expect(refusals[0]).toEqual({
      ok: false,
      rule: 'resolution',
      message: expect.stringMatching(/^The name internal\.example does not resolve to public addresses alone\./),
    });
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1);
  });

  test('has another message than a scheme, user information and a literal address', async () => {
    const urls = ['http://a.example/', 'https://u:p@a.example/', 'https://10.0.0.1/', 'https://missing.example/'];
    const validated = await Promise.all(urls.map((url) => validate(url)));
    expect(validated.map((refusal) => (refusal.ok ? 'accepted' : refusal.rule))).toEqual([
      ...['scheme', 'user_info', 'address', 'resolution'],
    ]);
    expect(new Set(validated.map((refusal) => (refusal.ok ? '' : refusal.message))).size).toBe(4);
  });

  test('is stored as given and sent to in lower case and ASCII, without trailing dot and default port', async () => {
    dns.zones.set('xn--bcher-kva.example', PUBLIC);
    const given = 'HTTPS://BÜCHER.Example.:443/Hook?a=B#c';
    expect(await validate(`  ${given}\n`)).toEqual({ ok: true, url: given });
    expect(readEndpoint(given)).toMatchObject({ url: { href: 'https://xn--bcher-kva.example/Hook?a=B' } });
  });

  test('whose name server is silent is refused at the deadline', async () => {
    dns.zones.set('silent.example', 'silent');
    const started = performance.now();
    const validated = await validateUrl('https://silent.example/', {
      resolve: resolver.resolve,
      allowed: [],
      lookupDeadlineMs: 150,
    });
    expect(validated).toMatchObject({ ok: false, rule: 'resolution' });
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

test('the receiver is not contacted', async () => {
  const receiver = await startRawReceiver();
  dns.zones.set('local.example', { a: ['127.0.0.1'] });
  const named = await validate(`https://local.example:${receiver.port}/`, '127.0.0.0/8');
  const literal = await validate(`https://127.0.0.1:${receiver.port}/`, '127.0.0.0/8');
  await receiver.close();
  expect([named.ok, literal.ok]).toEqual([true, true]);
  expect(receiver.connections()).toBe(0);
});
