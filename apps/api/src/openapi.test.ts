import { EVENTS, errorSchema, errorsOf, OPERATIONS, type Operation } from '@vat/contracts';
import { ERROR_CATALOGUE, type ErrorCode, type ErrorSpec, EVENT_TYPES, newUuid, publicId } from '@vat/domain';
import { startWorld, type World } from '@vat/testkit';
import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';

/** How many generated requests; set by the jest configuration (1 000 in CI, 10 000 in `npm run test:faults`). */
declare const FUZZ_RUNS: number;
const AT_ONCE = 20;

const operations = Object.values<Operation>(OPERATIONS);

let world: World;
let document: Json;
type Json = Record<string, unknown>;
beforeAll(async () => {
  world = await startWorld({ settings: { UPSTREAM_WINDOW: '3s' } });
  document = (await world.http(null).get('/v1/openapi.json').expect(200)).body;
});
afterAll(() => world?.stop());

const operationIn = (operation: Operation): Json =>
  ((document.paths as Json)[operation.path] as Json)[operation.method] as Json;

test('the document is OpenAPI 3.1, needs no key, and names every code of the error table', () => {
  expect(document.openapi).toBe('3.1.0');
  const schemas = Object.keys((document.components as Json).schemas as Json);
  for (const code of Object.keys(ERROR_CATALOGUE)) expect(schemas).toContain(`Error_${code}`);
});

test('every reference in the document resolves, and every header and parameter is referenced', () => {
  const references: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === '$ref' && typeof inner === 'string') references.push(inner);
      else walk(inner);
    }
  };
  walk(document);
  expect(references.length).toBeGreaterThan(50);
  for (const reference of new Set(references)) {
    const target = reference
      .slice(2)
      .split('/')
      .reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document);
    expect([reference, typeof target]).toEqual([reference, 'object']);
  }
  const components = document.components as Record<string, Json>;
  const shared = ['headers', 'parameters'].flatMap((kind) =>
    Object.keys(components[kind] ?? {}).map((name) => `#/components/${kind}/${name}`),
  );
  expect(shared.filter((component) => !references.includes(component))).toEqual([]);
});

test('the document names the headers of the rate limit wherever a call with a key has them', async () => {
  const ofRateLimit = (headers: Json): string[] =>
    Object.keys(headers)
      .map((name) => name.toLowerCase())
      .filter((name) => name.startsWith('ratelimit-'))
      .toSorted();
  const sent = ofRateLimit((await world.http().get('/v1/usage').expect(200)).headers);
  expect(sent).toHaveLength(4);
  for (const operation of operations) {
    const responses = operationIn(operation).responses as Record<string, { headers: Json }>;
    for (const [status, { headers }] of Object.entries(responses)) {
      const expected = operation.key === false || status === '401' ? [] : sent;
      expect([operation.path, status, ofRateLimit(headers)]).toEqual([operation.path, status, expected]);
    }
  }
});

test('what the service sends may gain fields later; what it accepts may have no others', () => {
  const isClosed = (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    ((value as Json).additionalProperties === false || Object.values(value).some(isClosed));
  const { schemas } = document.components as Json;
  const sent = operations.map((operation) => operationIn(operation).responses);
  expect([schemas, sent, document.webhooks].map(isClosed)).toEqual([false, false, false]);
  for (const operation of operations)
    if (operation.body)
      expect([operation.path, isClosed(operationIn(operation).requestBody)]).toEqual([operation.path, true]);
});

test('every filter by time says which end of the period is inclusive', () => {
  const ends = operations.flatMap((operation) =>
    (operationIn(operation).parameters as { name?: string; schema: Json }[])
      .filter(({ name }) => name === 'from' || name === 'to')
      .map(({ name, schema }) => [name, schema.description]),
  );
  expect(ends.length).toBeGreaterThan(0);
  for (const [name, description] of ends) expect(description).toContain(name === 'from' ? 'inclusive' : 'exclusive');
});

test('every event is listed as a webhook, with an example that its schema accepts', () => {
  expect(Object.keys(document.webhooks as Json)).toEqual([...EVENT_TYPES]);
  const webhooks = document.webhooks as Record<string, { post: { requestBody: { content: Record<string, Json> } } }>;
  for (const type of EVENT_TYPES) {
    const content = webhooks[type]?.post.requestBody.content['application/json'];
    expect((content?.schema as Json | undefined)?.properties).toMatchObject({ event: { const: type } });
    expect(EVENTS[type].schema.safeParse(content?.example).error).toBeUndefined();
  }
});

test('an operation needs a key unless it is public, and every other method of its path is 405 with Allow', async () => {
  const methods = ['get', 'post', 'put', 'patch', 'delete'] as const;
  const paths = new Set(operations.map((operation) => operation.path));
  for (const path of paths) {
    const documented = operations
      .filter((operation) => operation.path === path)
      .map((operation) => operation.method as string);
    const real = path.replace('{id}', publicId('check', newUuid()));
    for (const method of methods) {
      const { status, headers, body } = await (method === 'get' || method === 'post'
        ? world.http(null)[method](real)
        : world.http(null).method(method, real));
      if (documented.includes(method)) {
        const isPublic = operations.some((one) => one.path === path && one.key === false);
        expect([path, method, status]).toEqual([path, method, isPublic ? 200 : 401]);
      } else {
        expect([path, method, status, body.error.code]).toEqual([path, method, 405, 'METHOD_NOT_ALLOWED']);
        for (const allowed of documented) expect(headers.allow).toContain(allowed.toUpperCase());
      }
    }
  }
});

test('the documentation page and all its files are served by the service itself', async () => {
  const page = await world.http(null).get('/docs').expect(200);
  expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  expect(page.headers).toMatchObject({
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  });
  const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => String(address));
  expect(assets.length).toBeGreaterThanOrEqual(3);
  for (const address of assets) {
    expect(address).toMatch(/^\/docs\//);
    await world.http(null).get(address).expect(200);
  }
  const start = await world.http(null).get('/docs/start.js').expect(200);
  expect(start.text).toContain('/v1/openapi.json');
  expect(start.text).not.toMatch(/https?:/);
});

test('each operation has an example of each answer and each error', () => {
  for (const operation of operations) {
    const responses = operationIn(operation).responses as Record<
      string,
      { content: Record<string, { example?: unknown; examples?: Json }> }
    >;
    for (const [status, success] of Object.entries(operation.success)) {
      const [content] = Object.values(responses[status]?.content ?? {});
      if (!success.schema) continue;
      expect(content?.example).toBeDefined();
      expect(success.schema.safeParse(success.example).error).toBeUndefined();
    }
    for (const code of errorsOf(operation)) {
      const [content] = Object.values(responses[String(ERROR_CATALOGUE[code].status)]?.content ?? {});
      expect(
        errorSchema(code).safeParse(content?.examples?.[code] && (content.examples[code] as Json).value).error,
      ).toBeUndefined();
    }
  }
});

describe('generated requests', () => {
  type Call = { operation: Operation; path: string; headers: Record<string, string>; body: string | undefined };

  const junk = fc.oneof(
    anyText({ maxLength: 60 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string(), { maxLength: 3 }),
    fc.object({ maxDepth: 2 }),
  );
  const number = fc.oneof(
    fc.constantFrom(
      'DE123456788',
      'FR40303265045',
      'ATU12345675',
      'XI123456789',
      'DE1',
      'GB123',
      'FR 40 303 265 045',
      '100',
      '',
    ),
    anyText({ maxLength: 45 }),
    fc
      .tuple(fc.constantFrom('DE', 'FR', 'IT', 'PL', 'EL'), fc.stringMatching(/^[0-9]{1,14}$/))
      .map((parts) => parts.join('')),
  );
  const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
  const checkBody = fc.record({
    vat_number: fc.oneof({ weight: 8, arbitrary: number }, { weight: 1, arbitrary: junk }),
    country_code: sometimes(fc.oneof(fc.constantFrom('DE', 'gr', 'GB', ''), junk)),
    requester_vat_number: sometimes(fc.oneof(number, junk)),
    reference: sometimes(fc.oneof(anyText({ maxLength: 70 }), junk)),
    trader: sometimes(
      fc.oneof(fc.record({ name: fc.string({ maxLength: 20 }), city: sometimes(fc.string({ maxLength: 20 })) }), junk),
    ),
    surplus: sometimes(junk),
  });
  const label = anyText({ maxLength: 110 });
  const watchBody = fc.record({
    vat_number: sometimes(fc.oneof({ weight: 8, arbitrary: number }, { weight: 1, arbitrary: junk })),
    country_code: sometimes(fc.constantFrom('DE', 'gr', 'GB', '')),
    requester_vat_number: sometimes(fc.oneof(number, junk)),
    label: sometimes(fc.oneof({ weight: 3, arbitrary: label }, { weight: 1, arbitrary: junk })),
    frequency: sometimes(
      fc.oneof({ weight: 5, arbitrary: fc.constantFrom('daily', 'weekly') }, { weight: 1, arbitrary: junk }),
    ),
    status: sometimes(fc.constantFrom('active', 'paused', 'gone')),
  });
  const resendBody = fc.record({
    from: sometimes(fc.oneof(fc.constantFrom('2026-11-01', '2026-11-20T00:00:00Z', '9999-12-31'), junk)),
    to: sometimes(fc.oneof(fc.constantFrom('2026-11-02', '2026-11-21T00:00:00+01:00', '9999-12-31T23:59:59Z'), junk)),
    status: sometimes(fc.constantFrom('failed', 'successful', 'pending')),
    event: sometimes(fc.constantFrom('check.completed', 'webhook.test', 'gone')),
  });
  const text = fc.oneof(
    { weight: 8, arbitrary: checkBody.map((body) => JSON.stringify(body)) },
    { weight: 3, arbitrary: watchBody.map((body) => JSON.stringify(body)) },
    { weight: 2, arbitrary: resendBody.map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: anyText({ maxLength: 200 }) },
    { weight: 1, arbitrary: fc.constant(`{"vat_number":"${'1'.repeat(70_000)}"}`) },
  );
  const query = fc.dictionary(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom('limit', 'cursor', 'vat_number', 'valid', 'from', 'to', 'reference') },
      {
        weight: 3,
        arbitrary: fc.constantFrom(
          ...['status', 'event', 'type', 'after', 'delimiter', 'bom', 'label', 'requester_vat_number'],
        ),
      },
      { weight: 2, arbitrary: fc.constantFrom('max_age_days', 'min_grade', 'queue_gaps', 'lang', 'coverage_id') },
      { weight: 1, arbitrary: fc.string({ maxLength: 8 }) },
    ),
    fc.oneof(
      fc.constantFrom(
        '1',
        '100',
        '101',
        '0',
        '-1',
        'true',
        'false',
        '2026-11-01',
        '2026-11-20T00:00:00Z',
        'start',
        'batch.completed',
        'DE123456788',
      ),
      anyText({ maxLength: 30 }),
    ),
    { maxKeys: 4 },
  );
  const csv = fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .tuple(
          fc.constantFrom('vat_number;reference\n', 'USt-IdNr;Land\n', 'vat_number;supply_date\n', ''),
          fc.array(fc.tuple(number, fc.oneof(fc.string({ maxLength: 10 }), fc.constant('31.12.2025'))), {
            maxLength: 20,
          }),
        )
        .map(([header, rows]) => header + rows.map((cells) => cells.join(';')).join('\r\n')),
    },
    { weight: 1, arbitrary: anyText({ maxLength: 200 }) },
  );
  const inForm = (file: string) =>
    `--X\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n${file}\r\n--X--\r\n`;
  const json = fc.record({
    type: fc.oneof(
      { weight: 9, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('text/plain', 'application/xml', '') },
    ),
    body: text,
  });
  const upload = fc.oneof(
    { weight: 4, arbitrary: csv.map((body) => ({ type: 'text/csv', body })) },
    { weight: 4, arbitrary: csv.map((file) => ({ type: 'multipart/form-data; boundary=X', body: inForm(file) })) },
    { weight: 1, arbitrary: csv.map((body) => ({ type: 'multipart/form-data; boundary=X', body })) },
    { weight: 1, arbitrary: csv.map((body) => ({ type: 'text/csv; charset=utf-16le', body })) },
    { weight: 1, arbitrary: json },
  );
  const sentTo = ({ body, uploads }: Operation) => (uploads ? upload : body ? json : fc.constant(undefined));

  const id = fc.oneof(
    fc
      .tuple(
        fc.constantFrom('chk', 'req', 'bat', 'cov', 'wat', 'anc', 'dlv', 'evt', 'acc'),
        fc.stringMatching(/^[0-7][0-9a-hjkmnp-tv-z]{25}$/),
      )
      .map(([prefix, rest]) => `${prefix}_${rest}`),
    anyText({ minLength: 1, maxLength: 40 }),
    fc.constantFrom('..', '%2e%2e', '%00', 'chk_', 'null'),
  );
  const printable = fc.stringMatching(/^[ -~]{0,300}$/);

  const call: fc.Arbitrary<Call> = fc.constantFrom(...operations).chain((operation) =>
    fc
      .record({
        id,
        query: operation.query ? query : fc.constant({}),
        sent: sentTo(operation),
        key: fc.oneof(
          { weight: 12, arbitrary: fc.constant('live') },
          { weight: 2, arbitrary: fc.constant('test') },
          { weight: 1, arbitrary: printable },
        ),
        idempotency: sometimes(printable),
      })
      .map(({ id: one, query: parameters, sent, key, idempotency }) => {
        const keys: Record<string, string> = { live: world.account.live_key, test: world.account.test_key };
        const safe = encodeURIComponent(one.toWellFormed()).replace(/^\.+$/, 'dots');
        const search = new URLSearchParams(parameters).toString();
        return {
          operation,
          path: operation.path.replace('{id}', safe) + (search && `?${search}`),
          headers: {
            authorization: `Bearer ${keys[key] ?? key}`,
            ...(sent === undefined ? {} : { 'content-type': sent.type }),
            ...(idempotency === undefined ? {} : { 'idempotency-key': idempotency }),
          },
          body: sent?.body,
        };
      }),
  );

  const findFault = async ({ operation, path, headers, body }: Call): Promise<string | null> => {
    const response = await fetch(`${world.baseUrl()}${path}`, {
      method: operation.method.toUpperCase(),
      headers,
      ...(body === undefined ? {} : { body: body.toWellFormed() }),
    });
    const answer = await response.text();
    const shown = `${operation.method} ${path} ${body?.slice(0, 300)} → ${response.status} ${answer.slice(0, 300)}`;
    if (!response.headers.get('x-request-id')) return `no X-Request-Id: ${shown}`;
    if (response.status >= 500) return `5xx: ${shown}`;
    if (response.status < 300) {
      const success = operation.success[response.status];
      if (!success) return `undocumented status: ${shown}`;
      const parsed = success.schema?.safeParse(JSON.parse(answer));
      return parsed && !parsed.success ? `${parsed.error.message}: ${shown}` : null;
    }
    const { code } = (JSON.parse(answer) as { error: { code: ErrorCode } }).error;
    const spec: ErrorSpec | undefined = ERROR_CATALOGUE[code];
    if (!spec || spec.status !== response.status) return `code and status disagree: ${shown}`;
    if (!errorsOf(operation).includes(code)) return `undocumented code: ${shown}`;
    const parsed = errorSchema(code).safeParse(JSON.parse(answer));
    return parsed.success ? null : `${parsed.error.message}: ${shown}`;
  };

  test('never get a 5xx, and every answer matches its schema', async () => {
    const calls = fc.sample(call, { numRuns: FUZZ_RUNS, seed: 20_261_120 });
    const wrong: string[] = [];
    const take = async () => {
      for (let next = calls.pop(); next; next = calls.pop()) {
        const fault = await findFault(next);
        if (fault !== null) wrong.push(fault);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, take));
    expect(wrong.slice(0, 10)).toEqual([]);
  }, 300_000);
});
