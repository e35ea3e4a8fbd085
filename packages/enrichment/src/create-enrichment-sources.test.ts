import { createServer } from 'node:http';
import { ENRICHMENT_SOURCES, type EnrichmentFinding, type EnrichmentSourceName } from '@vat/domain';
import { listenLocally, until } from '@vat/testkit';
import { createEnrichmentSources } from './create-enrichment-sources.js';
import {
  countedSearches,
  countedStarts,
  type Handler,
  json,
  SOURCE_DEPS,
  SUBJECTS,
  text,
  withLocalSource,
} from './local-source.fixture.js';
import { ANSWER_CAP_BYTES } from './open-source-calls.js';

const PL_FOUND = {
  result: {
    entries: [{ identifier: '5260250274', subjects: [{ nip: '5260250274', statusVat: 'Czynny' }] }],
    requestId: 'abc',
  },
};
const TIMEOUT_MS = 500;

const halfJson: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"result":{"sub', () => response.destroy());
};
const drip: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};
const huge: Handler = (_request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(`{"padding":"${'x'.repeat(4 * ANSWER_CAP_BYTES)}"}`);
};

type Failure = {
  how: string;
  handler: Handler;
  outcome: string;
  status: number | null;
  complete: boolean;
  detail: RegExp;
};
const FAILURES: Failure[] = [
  {
    how: 'an HTML 404',
    handler: text('<h1>gone</h1>', 404),
    outcome: 'unavailable',
    status: 404,
    complete: true,
    detail: /HTTP 404/,
  },
  {
    how: 'an empty 404',
    handler: text('', 404),
    outcome: 'unavailable',
    status: 404,
    complete: true,
    detail: /HTTP 404/,
  },
  {
    how: 'a 429',
    handler: text('slow down', 429),
    outcome: 'blocked',
    status: 429,
    complete: true,
    detail: /HTTP 429/,
  },
  {
    how: 'a 403 page',
    handler: text('<h1>no</h1>', 403),
    outcome: 'blocked',
    status: 403,
    complete: true,
    detail: /HTTP 403/,
  },
  {
    how: 'a 400 in JSON',
    handler: json({ message: 'bad' }, 400),
    outcome: 'rejected',
    status: 400,
    complete: true,
    detail: /HTTP 400/,
  },
  {
    how: 'a 400 page',
    handler: text('<h1>bad</h1>', 400),
    outcome: 'unavailable',
    status: 400,
    complete: true,
    detail: /HTTP 400/,
  },
  { how: 'a 500', handler: text('oops', 500), outcome: 'unavailable', status: 500, complete: true, detail: /HTTP 500/ },
  {
    how: 'a 503 in JSON',
    handler: json({ message: 'later' }, 503),
    outcome: 'unavailable',
    status: 503,
    complete: true,
    detail: /HTTP 503/,
  },
  {
    how: 'a redirect',
    handler: (_request, response) => void response.writeHead(302, { location: '/elsewhere' }).end(),
    outcome: 'unavailable',
    status: 302,
    complete: true,
    detail: /redirects are not followed/,
  },
  {
    how: 'HTML',
    handler: text('<!doctype html><p>hello'),
    outcome: 'unavailable',
    status: 200,
    complete: true,
    detail: /HTML/,
  },
  { how: 'an empty body', handler: text(''), outcome: 'unavailable', status: 200, complete: true, detail: /not JSON/ },
  {
    how: 'half a JSON text',
    handler: text('{"result":', 200, 'application/json'),
    outcome: 'unavailable',
    status: 200,
    complete: true,
    detail: /not JSON/,
  },
  {
    how: 'JSON null',
    handler: json(null),
    outcome: 'unavailable',
    status: 200,
    complete: true,
    detail: /another shape/,
  },
  {
    how: 'another JSON',
    handler: json({ hello: ['world'] }),
    outcome: 'unavailable',
    status: 200,
    complete: true,
    detail: /another shape/,
  },
  {
    how: 'a body cut by a reset',
    handler: halfJson,
    outcome: 'unavailable',
    status: 200,
    complete: false,
    detail: /connection failed/,
  },
  {
    how: 'a reset',
    handler: (request) => void request.socket.resetAndDestroy(),
    outcome: 'unavailable',
    status: null,
    complete: false,
    detail: /connection failed: ECONNRESET/,
  },
  { how: 'a huge body', handler: huge, outcome: 'unavailable', status: 200, complete: false, detail: /over 512 KiB/ },
  { how: 'no answer', handler: () => undefined, outcome: 'timeout', status: null, complete: false, detail: /in time/ },
  { how: 'a slow body', handler: drip, outcome: 'timeout', status: 200, complete: false, detail: /in time/ },
];

const isTimeout = ({ outcome }: Failure): boolean => outcome === 'timeout';
const expectFailure = ({ entry, exchange }: EnrichmentFinding, { outcome, status, complete, detail }: Failure) => {
  expect(entry).toMatchObject({ outcome, attempts: 1, detail: expect.stringMatching(detail) });
  expect(Number.isInteger(entry.duration_ms)).toBe(true);
  expect(exchange?.response?.status ?? null).toBe(status);
  expect(exchange?.response?.complete ?? false).toBe(complete);
  expect(exchange?.error === null).toBe(complete);
};

const expectMapped = (name: EnrichmentSourceName, failure: Failure) =>
  withLocalSource(
    name,
    failure.handler,
    async ({ source, seen }) => {
      const startedAt = performance.now();
      const finding = await source.consult(SUBJECTS[name]);
      const waitedMs = performance.now() - startedAt;
      expect(finding.entry.source).toBe(name);
      expect(finding.exchange?.source).toBe(name);
      expectFailure(finding, failure);
      // On a busy machine the answer is noticed late. A call without a deadline would never end here.
      expect(finding.entry.duration_ms).toBeLessThanOrEqual(waitedMs + 1);
      if (failure.outcome === 'timeout') expect(finding.entry.duration_ms).toBeGreaterThanOrEqual(TIMEOUT_MS - 5);
      expect(seen).toHaveLength(1);
    },
    { timeoutMs: TIMEOUT_MS },
  );

// These only wait.
test.concurrent.each(
  ENRICHMENT_SOURCES.flatMap((name) => FAILURES.filter(isTimeout).map((failure) => ({ name, failure, ...failure }))),
)('$name maps $how to $outcome', ({ name, failure }) => expectMapped(name, failure));

describe.each(ENRICHMENT_SOURCES)('%s', (name) => {
  test.each(FAILURES.filter((failure) => !isTimeout(failure)))('maps $how to $outcome', (failure) =>
    expectMapped(name, failure),
  );

  test('maps a missing server to unavailable', async () => {
    const { url, close: stop } = await listenLocally(createServer());
    await stop();
    const { sources, close } = createEnrichmentSources({
      enabled: [name],
      urls: { [name]: url },
      ...{ ...SOURCE_DEPS, timeoutMs: TIMEOUT_MS, budget: countedSearches() },
    });
    const finding = await sources[0]?.consult(SUBJECTS[name]);
    close();
    expect(finding).toMatchObject({
      entry: { outcome: 'unavailable', detail: 'connection failed: ECONNREFUSED' },
      exchange: { response: null },
    });
  });
});

test('creates only the enabled sources, in the order of the catalogue', () => {
  const deps = { ...SOURCE_DEPS, urls: {}, budget: countedSearches() };
  const some = createEnrichmentSources({ ...deps, enabled: ['gleif', 'pl_white_list'] });
  const all = createEnrichmentSources({ ...deps, enabled: ENRICHMENT_SOURCES });
  const none = createEnrichmentSources({ ...deps, enabled: [] });
  expect(some.sources.map(({ name }) => name)).toEqual(['pl_white_list', 'gleif']);
  expect(all.sources.map(({ name }) => name)).toEqual([...ENRICHMENT_SOURCES]);
  expect(none.sources).toEqual([]);
  for (const { close } of [some, all, none]) close();
});

test('each source applies only to its own subject, and only to valid numbers except the German confirmation', () => {
  const { sources, close } = createEnrichmentSources({
    ...{ ...SOURCE_DEPS, budget: countedSearches() },
    enabled: ENRICHMENT_SOURCES,
    urls: {},
  });
  const applying = (subject: (typeof SUBJECTS)['gleif']) =>
    sources.filter(({ appliesTo }) => appliesTo(subject)).map(({ name }) => name);
  for (const name of ENRICHMENT_SOURCES) {
    const subject = { ...SUBJECTS[name], name: null };
    expect(applying(subject)).toEqual(name === 'gleif' ? [] : [name]);
    expect(applying({ ...subject, valid: false })).toEqual(name === 'de_evatr' ? [name] : []);
  }
  expect(applying(SUBJECTS.pl_white_list)).toEqual(['pl_white_list', 'gleif']);
  expect(applying({ ...SUBJECTS.de_evatr, memberState: 'DE' })).toEqual([]);
  close();
});

test('a base URL may have a prefix, and one that is not http or https is refused at once', async () => {
  await withLocalSource('pl_white_list', json(PL_FOUND), async ({ url, seen }) => {
    const deps = { ...SOURCE_DEPS, budget: countedSearches(), enabled: ['pl_white_list'] as const };
    const { sources, close } = createEnrichmentSources({ ...deps, urls: { pl_white_list: `${url}/mirror/` } });
    expect((await sources[0]?.consult(SUBJECTS.pl_white_list))?.entry.outcome).toBe('found');
    close();
    expect(seen[0]?.url).toMatch(/^\/mirror\/api\/search\/nips\//);
    for (const bad of ['nowhere', 'ftp://127.0.0.1/']) {
      expect(() => createEnrichmentSources({ ...deps, urls: { pl_white_list: bad } })).toThrow(
        'The URL of pl_white_list is not an http or https URL.',
      );
    }
  });
});

test('records the exchange byte for byte, with the sent headers', async () => {
  const bytes = '\ufeff{"status":"evatr-0000",  "id":"ä"}\n';
  await withLocalSource('de_evatr', text(bytes, 200, 'application/json'), async ({ source, seen, url }) => {
    const { exchange, entry } = await source.consult(SUBJECTS.de_evatr);
    expect(entry.outcome).toBe('found');
    expect(Buffer.from(exchange?.response?.body ?? []).toString()).toBe(bytes);
    expect(exchange?.response?.headers['content-type']).toBe('application/json');
    expect(exchange?.request).toMatchObject({ method: 'POST', url: `${url}/app/v1/abfrage` });
    expect(Buffer.from(exchange?.request.body ?? []).toString()).toBe(seen[0]?.body);
    const { connection, ...arrived } = seen[0]?.headers ?? {};
    expect(connection).toBe('keep-alive');
    expect(exchange?.request.headers).toEqual(arrived);
    expect(arrived['accept-encoding']).toBe('identity');
    expect(arrived['user-agent']).toBe(SOURCE_DEPS.userAgent);
  });
});

test('stores neither cookies nor the credentials of its URL, although these are sent', async () => {
  const handler: Handler = (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json',
      'set-cookie': 'session=secret',
      'x-internal': 'secret',
    });
    response.end('{}');
  };
  await withLocalSource('cz_ares', handler, async ({ url, seen }) => {
    const { sources, close } = createEnrichmentSources({
      ...{ ...SOURCE_DEPS, enabled: ['cz_ares'], budget: countedSearches() },
      urls: { cz_ares: url.replace('http://', 'http://operator:secret@') },
    });
    const finding = await sources[0]?.consult(SUBJECTS.cz_ares);
    close();
    const exchange = finding?.exchange;
    if (!exchange) throw new Error('no exchange');
    expect(seen[0]?.headers.authorization).toBe(`Basic ${btoa('operator:secret')}`);
    expect(exchange.request.url).toBe(url + seen[0]?.url);
    expect(exchange.response?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(JSON.stringify(exchange)).not.toMatch(/secret|authorization|cookie/i);
    expect(Buffer.from(exchange.response?.body ?? []).toString()).toBe('{}');
  });
});

test('pauses a source after five consecutive failures, probes it after a minute, and continues when it has recovered', async () => {
  let at = Date.parse('2026-11-20T10:00:00.000Z');
  await withLocalSource(
    'cz_ares',
    text('down', 503),
    async ({ source, seen, answer }) => {
      const consult = () => source.consult(SUBJECTS.cz_ares);
      for (let n = 0; n < 5; n += 1) expect((await consult()).entry.outcome).toBe('unavailable');
      const paused = await consult();
      expect(paused).toMatchObject({ entry: { outcome: 'skipped' }, exchange: null });
      expect(paused.entry).not.toHaveProperty('attempts');
      expect(paused.entry.detail).toContain('2026-11-20T10:01:00.000Z');
      expect(seen).toHaveLength(5);
      at += 60_000;
      answer(json({ ico: '00006947', obchodniJmeno: 'Ministerstvo financí' }));
      expect((await consult()).entry.outcome).toBe('found');
      expect((await consult()).entry.outcome).toBe('found');
    },
    { now: () => new Date(at) },
  );
});

test.each([
  { seconds: 300, how: 'longer than' },
  { seconds: 5, how: 'shorter than' },
])('a Retry-After $how the usual pause is respected', async ({ seconds }) => {
  let at = Date.parse('2026-11-20T10:00:00.000Z');
  const handler: Handler = (_request, response) =>
    void response.writeHead(429, { 'retry-after': String(seconds) }).end();
  await withLocalSource(
    'fr_recherche_entreprises',
    handler,
    async ({ source, seen }) => {
      const consult = () => source.consult(SUBJECTS.fr_recherche_entreprises);
      await consult();
      at += seconds * 1_000 - 1_000;
      expect((await consult()).entry.outcome).toBe('skipped');
      at += 1_000;
      expect((await consult()).entry.outcome).toBe('blocked');
      expect(seen).toHaveLength(2);
    },
    { now: () => new Date(at) },
  );
});

describe('the pace of a source', () => {
  /** Less than the gap of fr_recherche_entreprises, because timers can be early by a few milliseconds. */
  const GAP_MS = 190;
  /** The n-th call waits for n gaps, so it takes at least that long. */
  const expectSpaced = (findings: readonly (EnrichmentFinding | undefined)[]) => {
    const durations = findings.map((finding) => finding?.entry.duration_ms ?? 0).toSorted((a, b) => a - b);
    for (const [n, duration] of durations.entries()) expect(duration).toBeGreaterThan(n * GAP_MS - 1);
  };

  test('is shared by all processes', async () => {
    const reserveCall = countedStarts();
    await withLocalSource(
      'fr_recherche_entreprises',
      json({ results: [] }),
      async ({ source, seen, url }) => {
        const other = createEnrichmentSources({
          ...{ ...SOURCE_DEPS, enabled: ['fr_recherche_entreprises'], budget: countedSearches(), reserveCall },
          urls: { fr_recherche_entreprises: url },
        });
        const subject = SUBJECTS.fr_recherche_entreprises;
        expectSpaced(
          await Promise.all([1, 2, 3].flatMap(() => [source.consult(subject), other.sources[0]?.consult(subject)])),
        );
        other.close();
        expect(seen).toHaveLength(6);
      },
      { reserveCall },
    );
  });

  test.each([
    ['cannot be reached', () => Promise.reject(new Error('Redis is away'))],
    ['does not answer', () => new Promise<never>(() => undefined)],
  ])('is that of this process while the fleet %s', async (_, reserveCall) => {
    await withLocalSource(
      'fr_recherche_entreprises',
      json({ results: [] }),
      async ({ source }) => {
        const subject = SUBJECTS.fr_recherche_entreprises;
        const findings = await Promise.all([1, 2, 3].map(() => source.consult(subject)));
        expect(findings.map(({ entry }) => entry.outcome)).toEqual(['not_found', 'not_found', 'not_found']);
        expectSpaced(findings);
      },
      { reserveCall },
    );
  });
});

test('a call has its whole time-out after it has waited for its turn', async () => {
  const timeoutMs = 1_000;
  await withLocalSource(
    'ro_anaf',
    (request, response) =>
      setTimeout(() => json({ cod: 200, found: [], notFound: [14056826] })(request, response), 500),
    async ({ source }) => {
      const { entry } = await source.consult(SUBJECTS.ro_anaf);
      expect(entry.outcome).toBe('not_found');
    },
    { timeoutMs, reserveCall: async () => 700 },
  );
});

describe('the call that tries a source after a pause', () => {
  test('is left to the next check by one whose account has no searches left', async () => {
    let at = Date.parse('2026-11-20T10:00:00.000Z');
    const budget = countedSearches();
    const take: typeof budget.take = async (search) =>
      search.accountId === 'none left' ? 'exhausted' : budget.take(search);
    await withLocalSource(
      'pl_white_list',
      text('down', 503),
      async ({ source, seen, answer }) => {
        const consult = (accountId: string) => source.consult({ ...SUBJECTS.pl_white_list, accountId });
        for (let n = 0; n < 5; n += 1) await consult('other');
        expect((await consult('other')).entry.outcome).toBe('skipped');
        answer(json(PL_FOUND));
        at += 900_001;
        expect((await consult('none left')).entry.code).toBe('DAILY_SEARCHES_USED');
        expect((await consult('other')).entry.outcome).toBe('found');
        expect(seen).toHaveLength(6);
      },
      { now: () => new Date(at), budget: { ...budget, take } },
    );
  });

  test('is left to the next check by one whose caller does not wait for its turn', async () => {
    let at = Date.parse('2026-11-20T10:00:00.000Z');
    let delayMs = 0;
    await withLocalSource(
      'fr_recherche_entreprises',
      text('down', 503),
      async ({ source, answer }) => {
        for (let n = 0; n < 5; n += 1) await source.consult(SUBJECTS.fr_recherche_entreprises);
        answer(json({ results: [] }));
        at += 60_001;
        delayMs = 3_000;
        const { entry } = await source.consult(SUBJECTS.fr_recherche_entreprises, AbortSignal.timeout(50));
        expect(entry.detail).toBe('the check could not wait longer');
        delayMs = 0;
        expect((await source.consult(SUBJECTS.fr_recherche_entreprises)).entry.outcome).toBe('not_found');
      },
      { now: () => new Date(at), reserveCall: async () => delayMs },
    );
  });
});

test('the caller can abort a call, which does not count as a failure of the source', async () => {
  await withLocalSource(
    'fi_prh',
    () => undefined,
    async ({ source, seen, answer }) => {
      for (let n = 1; n <= 6; n += 1) {
        const stop = new AbortController();
        const consulting = source.consult(SUBJECTS.fi_prh, stop.signal);
        await until('the call', () => seen.length === n);
        stop.abort();
        const { entry } = await consulting;
        expect(entry.outcome).toBe('timeout');
      }
      answer(json({ companies: [] }));
      expect((await source.consult(SUBJECTS.fi_prh)).entry.outcome).toBe('not_found');
      const late = await source.consult(SUBJECTS.fi_prh, AbortSignal.abort());
      expect(late).toMatchObject({ entry: { outcome: 'skipped' }, exchange: null });
      expect(seen).toHaveLength(7);
    },
    { timeoutMs: 3_600_000 },
  );
});

test('calls reuse a connection, and close ends it', async () => {
  await withLocalSource('pl_white_list', json(PL_FOUND), async ({ source, seen, openConnections, closeSources }) => {
    await source.consult(SUBJECTS.pl_white_list);
    await source.consult(SUBJECTS.pl_white_list);
    expect(seen[0]?.port).toBe(seen[1]?.port);
    expect(await openConnections()).toBe(1);
    closeSources();
    await until('the end of the connection', async () => (await openConnections()) === 0);
  });
});

test('an internal failure is an outcome too', async () => {
  const today = () => {
    throw new RangeError('no such time zone');
  };
  await withLocalSource(
    'pl_white_list',
    json(PL_FOUND),
    async ({ source }) => {
      expect(await source.consult(SUBJECTS.pl_white_list)).toMatchObject({
        entry: { outcome: 'unavailable', detail: 'internal failure: RangeError' },
        exchange: null,
      });
    },
    { today },
  );
});
