import type { IncomingMessage, ServerResponse } from 'node:http';
import { createDevelopmentAuthority, makeDevelopmentIdentity } from '@vat/evidence/proof';
import { openHttpServer, openProxy } from '@vat/testkit';
import { FailedCheck } from '../command.js';
import { runCommand } from '../run-command.js';

type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void | Promise<void>;
type Probe = { name: string; ok: boolean; ms: number; status: number | null; detail: string | null };

const now = () => new Date();
const json =
  (value: unknown, status = 200): Handler =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
const html: Handler = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Maintenance</h1>');
const silence: Handler = () => undefined;

const STATUS = { vow: { available: true }, countries: [{ countryCode: 'AT', availability: 'Available' }] };

/** The normal answer of each upstream, by the beginning of its path. */
const ANSWERS: Record<string, Handler> = {
  '/check-status': json(STATUS),
  '/api/search/nips/': json({ result: { entries: [{ identifier: '5260250274', subjects: [] }], requestId: 'x' } }),
  '/ekonomicke-subjekty-v-be/': json({ obchodniJmeno: 'Ministerstvo financí' }),
  '/api/PlatitorTvaRest/': json({ cod: 200, found: [{ date_generale: { cui: 14056826 } }] }),
  '/search': json({ results: [] }),
  '/opendata-ytj-api/': json({ companies: [] }),
  '/app/v1/info/eu_mitgliedstaaten': json([{ alpha2: 'AT', name: 'Österreich', verfuegbar: true }]),
  '/api/v1/lei-records': json({ data: [] }),
};
const NAMES = [
  'vies',
  'pl_white_list',
  'cz_ares',
  'ro_anaf',
  'fr_recherche_entreprises',
  'fi_prh',
  'de_evatr',
  'gleif',
  'tsa',
];

let stamp: Handler;
let root: string;
beforeAll(async () => {
  const identity = await makeDevelopmentIdentity(now());
  root = identity.root;
  const authority = await createDevelopmentAuthority({ identity, now });
  stamp = async (_request, response, body) =>
    void response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(await authority.reply(body));
});

/** Probes upstreams on one local server, with the answers of `changes`. */
const probe = async (
  changes: Record<string, Handler> = {},
  env: Record<string, string> = {},
  ...words: string[]
): Promise<{ ok: boolean; upstreams: Probe[]; agents: (string | undefined)[] }> => {
  const handlers: Record<string, Handler> = { ...ANSWERS, '/tsa': stamp, ...changes };
  const agents: (string | undefined)[] = [];
  const { url, close } = await openHttpServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray());
    agents.push(request.headers['user-agent']);
    const path = Object.keys(handlers).find((start) => request.url?.startsWith(start));
    await (path === undefined ? json({}, 404) : handlers[path])?.(request, response, body);
  });
  const sources = NAMES.slice(1, -1).map((name) => [`ENRICHMENT_${name.toUpperCase()}_URL`, url]);
  const settings = { VIES_URL: url, TSA_URL: `${url}/tsa`, TSA_ROOTS: root, ...Object.fromEntries(sources), ...env };
  try {
    const answer = await runCommand(['upstreams', 'probe', ...words], settings, async () => '').then(
      (report) => ({ ok: true, report }),
      (error: unknown) => {
        if (error instanceof FailedCheck) return { ok: false, report: error.answer };
        throw error;
      },
    );
    return { ok: answer.ok, upstreams: answer.report.upstreams as Probe[], agents };
  } finally {
    await close();
  }
};

const of = (upstreams: Probe[], name: string) => upstreams.find((upstream) => upstream.name === name);

test('sends one request to every configured upstream, without a database', async () => {
  const { ok, upstreams, agents } = await probe({}, { CONTACT_URL: 'https://vat.example.com/contact' });
  expect(upstreams.map(({ name }) => name)).toEqual(NAMES);
  expect(upstreams.filter((upstream) => !upstream.ok)).toEqual([]);
  expect(ok).toBe(true);
  expect(of(upstreams, 'vies')).toEqual({
    ...{ name: 'vies', ok: true, ms: expect.any(Number), status: 200 },
    detail: 'available: true, member states available: 1 of 1',
  });
  expect(of(upstreams, 'pl_white_list')).toMatchObject({ status: 200, detail: 'not_found' });
  expect(of(upstreams, 'tsa')?.detail).toMatch(/development/i);
  expect(agents).toHaveLength(NAMES.length);
  expect(new Set(agents)).toEqual(new Set(['vat-validation-service (+https://vat.example.com/contact)']));
});

test('reaches every upstream through EGRESS_PROXY alone', async () => {
  const proxy = await openProxy();
  const { ok, agents } = await probe({}, { EGRESS_PROXY: `http://egress:secret@${proxy.host}` });
  await proxy.close();
  expect(ok).toBe(true);
  expect(agents).toHaveLength(NAMES.length);
  expect(proxy.seen).toHaveLength(NAMES.length);
  for (const { line } of proxy.seen) expect(line).toMatch(/^(?:GET|POST) http:\/\/127\.0\.0\.1:/);

  const away = await probe({}, { EGRESS_PROXY: `http://${proxy.host}` });
  expect(away.agents).toEqual([]);
  expect(away.upstreams.filter((upstream) => upstream.ok)).toEqual([]);
});

test('skips sources that are disabled or not configured', async () => {
  const { upstreams } = await probe({}, { ENRICHMENT_SOURCES: 'gleif, cz_ares', TSA_URL: '' });
  expect(upstreams.map(({ name }) => name)).toEqual(['vies', 'cz_ares', 'gleif']);
  expect((await probe({}, { ENRICHMENT_SOURCES: 'none', TSA_URL: '' })).upstreams).toHaveLength(1);
});

test.each([
  { how: 'HTML', handler: html, status: 200, registers: 'unavailable, HTML instead of JSON', tsa: /^content_type/ },
  {
    how: 'a 503',
    handler: json({}, 503),
    status: 503,
    registers: 'unavailable, HTTP 503',
    tsa: /^http_status: .*HTTP 503/,
  },
  {
    how: 'a 429',
    handler: json({}, 429),
    status: 429,
    registers: 'blocked, HTTP 429',
    tsa: /^http_status: .*HTTP 429/,
  },
])('an upstream that answers with $how is not ok', async ({ handler, status, registers, tsa }) => {
  const all = Object.fromEntries([...Object.keys(ANSWERS), '/tsa'].map((path) => [path, handler]));
  const { ok, upstreams } = await probe(all);
  expect(ok).toBe(false);
  expect(upstreams.map((upstream) => [upstream.name, upstream.ok, upstream.status])).toEqual(
    NAMES.map((name) => [name, false, status]),
  );
  for (const name of NAMES.slice(1, -1)) expect([name, of(upstreams, name)?.detail]).toEqual([name, registers]);
  expect(of(upstreams, 'vies')?.detail).toBe(status === 200 ? 'HTML instead of JSON' : `HTTP ${status}`);
  expect(of(upstreams, 'tsa')?.detail).toMatch(tsa);
});

test('slow upstreams end at the shared deadline, and the others are reported', async () => {
  const { ok, upstreams } = await probe(
    { '/check-status': silence, '/search': silence, '/tsa': silence },
    {},
    ...['--timeout', '1'],
  );
  expect(ok).toBe(false);
  const slow = upstreams.filter((upstream) => !upstream.ok);
  expect(slow.map(({ name }) => name)).toEqual(['vies', 'fr_recherche_entreprises', 'tsa']);
  for (const { name, ms, status } of slow) {
    expect([name, status, ms >= 950, ms < 5_000]).toEqual([name, null, true, true]);
  }
  expect(of(upstreams, 'vies')?.detail).toBe('no complete answer in time');
});

test('an unreachable upstream is reported with the reason', async () => {
  const away = 'http://127.0.0.1:1';
  const { ok, upstreams } = await probe(
    {},
    {
      VIES_URL: away,
      TSA_URL: `${away}/tsa`,
      ENRICHMENT_FI_PRH_URL: away,
      DATABASE_URL: 'postgresql://x@127.0.0.1:1/x',
    },
  );
  expect(ok).toBe(false);
  const gone = upstreams.filter((upstream) => !upstream.ok);
  expect(gone.map(({ name, status }) => [name, status])).toEqual([
    ['vies', null],
    ['fi_prh', null],
    ['tsa', null],
  ]);
  for (const { detail } of gone) expect(detail).toContain('ECONNREFUSED');
});

test.each([
  [{ ENRICHMENT_SOURCES: 'all_of_them' }, [], /ENRICHMENT_SOURCES names all_of_them/],
  [{ TSA_ROOTS: 'roots.pem' }, [], /no PEM certificate/],
  [{ TSA_ROOTS: '' }, [], /TSA_ROOTS: certificates are required/],
  [{ CONTACT_URL: 'nobody' }, [], /CONTACT_URL/],
  [{ EGRESS_PROXY: 'socks5://127.0.0.1:1080' }, [], /EGRESS_PROXY/],
  [{}, ['--timeout', 'soon'], /--timeout is a number of seconds/],
  [{}, ['now'], /Unexpected argument now/],
])('%j with the words %j is refused and says why', async (env, words, why) => {
  await expect(probe({}, env as Record<string, string>, ...words)).rejects.toThrow(why);
});
