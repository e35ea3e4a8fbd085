import { OPERATIONS, type Operation } from '@vat/contracts';
import { hashApiKey, issueKey, newUuid, publicId } from '@vat/domain';
import { issueKeys, startWorld, until, type World } from '@vat/testkit';
import { crowd } from './crowd.fixture.js';
import { openRaw } from './raw-connection.fixture.js';

let world: World;
let caller: () => ReturnType<World['http']>;
beforeAll(async () => {
  world = await startWorld({ workers: 0 });
  caller = await crowd(world, world.account.account_id);
});
afterAll(() => world?.stop());

const NOBODYS_CHECK = '/v1/checks/chk_01h45ytscbebyvny4gc8cr8ma2';
const NOBODYS_REQUEST = '/v1/requests/req_01h45ytscbebyvny4gc8cr8ma2';
const raw = (text: string, type = 'application/json') =>
  caller().post('/v1/checks').set('Content-Type', type).send(text);
const post = (body: object) => caller().post('/v1/checks', body);

/** The answer to a POST; `rest` is everything after the key, except the final line end. */
const fetchRaw = async (path: string, rest: string): Promise<string> => {
  const [key] = await issueKeys(world, 1);
  const connection = await openRaw(world.baseUrl());
  connection.send(`POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n${rest}\r\n`);
  await until('the answer', () => connection.text().endsWith('}'));
  connection.close();
  return connection.text();
};

/** The error that a raw request is answered with. */
const answerTo = async (sent: string) => {
  const connection = await openRaw(world.baseUrl());
  connection.send(sent);
  const [head, body] = await until('the whole answer', () => {
    const [first = '', rest] = connection.text().split('\r\n\r\n');
    return rest?.endsWith('}') && ([first, rest] as const);
  });
  connection.close();
  const headers = Object.fromEntries(
    [...head.matchAll(/^([\w-]+): (.*?)\r?$/gm)].map(([, name = '', value = '']) => [name.toLowerCase(), value]),
  );
  return { status: Number(head.split(' ')[1]), body: JSON.parse(body), headers };
};

/** Expects exactly the error envelope. */
const expectError = (
  answer: { status: number; body: unknown; headers: Record<string, string> },
  status: number,
  code: string,
) => {
  expect({ status: answer.status, body: answer.body }).toEqual({
    status,
    body: { error: expect.objectContaining({ code, message: expect.stringMatching(/.\.$/) }) },
  });
  expect(answer.headers['content-type']).toMatch(/^application\/json/);
  expect(answer.headers['x-request-id']).toMatch(/./);
};

describe('UNAUTHORIZED', () => {
  const flip = (key: string) => key.slice(0, -1) + (key.endsWith('a') ? 'b' : 'a');

  test('is what a missing, malformed, mistyped or unknown key gets', async () => {
    const { live_key: key } = world.account;
    const given: (string | null)[] = [
      null,
      '',
      'Bearer',
      'Bearer ',
      `Basic ${key}`,
      key,
      'Bearer nonsense',
      `Bearer ${flip(key)}`,
      `Bearer ${key}x`,
      `Bearer ${key} ${key}`,
      `Bearer ${issueKey('unknown', false).key}`,
      `Bearer ${issueKey('unknown', true).key}`,
    ];
    for (const authorization of given) {
      const call = world.http(null).get('/v1/usage');
      const answer = await (authorization === null ? call : call.set('Authorization', authorization));
      expectError(answer, 401, 'UNAUTHORIZED');
      expect(answer.headers['www-authenticate']).toBe('Bearer');
    }
  });

  test('is not what another spelling of the scheme gets', async () => {
    const { status } = await world.http(null).get('/v1/usage').set('Authorization', `bearer ${world.account.live_key}`);
    expect(status).toBe(200);
  });

  test('is what a revoked key gets, within five seconds', async () => {
    const [key = ''] = await issueKeys(world, 1);
    const usage = () => world.http(key).get('/v1/usage');
    expect((await usage()).status).toBe(200);
    await world.sql('UPDATE api_key SET revoked_at = now() WHERE hash = $1', [hashApiKey(key)]);
    await until('the key to be refused', async () => (await usage()).status === 401, 5_000);
    expectError(await world.http(key).post('/v1/checks', { vat_number: 'DE1' }), 401, 'UNAUTHORIZED');
  });
});

test.each([
  '/',
  '/ops',
  '/ops/api/queues',
  '/v1',
  '/v1/nothing',
  '/v2/checks',
  '/v1/checks/a/b/c',
  '/v1/checks%2f',
  '/%',
  '/v1/usage/x',
])('%s is an unknown route: NOT_FOUND, with a key and without', async (path) => {
  expectError(await caller().get(path), 404, 'NOT_FOUND');
  expectError(await world.http(null).get(path), 404, 'NOT_FOUND');
});

test.each([
  ['*', 404, 'NOT_FOUND'],
  ['http://host', 404, 'NOT_FOUND'],
  ['coap://host', 404, 'NOT_FOUND'],
  ['coap://host?a', 404, 'NOT_FOUND'],
  ['//a@b#c', 404, 'NOT_FOUND'],
  ['http://[/v1/usage', 401, 'UNAUTHORIZED'],
  ['http://host:port/v1/usage', 401, 'UNAUTHORIZED'],
])('the target %s is %i %s', async (target, status, code) =>
  expectError(await answerTo(`GET ${target} HTTP/1.1\r\nHost: x\r\n\r\n`), status, code),
);

test.each([
  ['/v1/checks', ['GET', 'HEAD', 'POST'], ['put', 'patch', 'delete', 'options']],
  [NOBODYS_CHECK, ['GET', 'HEAD'], ['put', 'patch', 'delete', 'options']],
  [`${NOBODYS_CHECK}/evidence`, ['GET', 'HEAD'], ['put', 'delete']],
  [NOBODYS_REQUEST, ['GET', 'HEAD'], ['put', 'patch', 'delete']],
  ['/v1/usage', ['GET', 'HEAD'], ['put', 'delete']],
  ['/healthz', ['GET', 'HEAD'], ['put', 'delete']],
  ['/readyz', ['GET', 'HEAD'], ['delete']],
  ['/metrics', ['GET', 'HEAD'], ['delete']],
  ['/v1/status', ['GET', 'HEAD'], ['put', 'delete']],
  ['/v1/openapi.json', ['GET', 'HEAD'], ['put', 'delete']],
  ['/docs/swagger-ui.css', ['GET', 'HEAD'], ['put', 'delete']],
  ['/verifier', ['GET', 'HEAD'], ['put', 'delete']],
  ['/verifier/verify.py', ['GET', 'HEAD'], ['put', 'delete']],
] as const)(
  '%s accepts %j; another method is METHOD_NOT_ALLOWED, before the key is checked',
  async (path, allowed, others) => {
    for (const method of others) {
      const answer = await world.http(null).method(method, path);
      expectError(answer, 405, 'METHOD_NOT_ALLOWED');
      expect(answer.headers.allow?.split(', ').sort()).toEqual([...allowed]);
    }
  },
);

describe('BAD_REQUEST', () => {
  const fieldsOf = (body: { error?: { fields?: { path: string }[] } }) => body.error?.fields?.map(({ path }) => path);

  test('is what a body over 64 KiB gets; exactly 64 KiB are accepted', async () => {
    const body = JSON.stringify({ vat_number: 'DE1' });
    const exact = await raw(body + ' '.repeat(64 * 1024 - body.length));
    expect([exact.status, exact.body.verdict]).toEqual([201, 'malformed']);
    expectError(await raw(body + ' '.repeat(64 * 1024 - body.length + 1)), 400, 'BAD_REQUEST');
    expectError(await raw(JSON.stringify({ vat_number: 'D'.repeat(1024 * 1024) })), 400, 'BAD_REQUEST');
  });

  test.each([
    '',
    '{',
    '{"vat_number":"DE1"',
    '{vat_number:"DE1"}',
    '[]',
    '[{"vat_number":"DE1"}]',
    '"DE1"',
    'null',
    '5',
    '\u0000',
  ])('is what the body %j gets', async (text) => {
    const answer = await raw(text);
    expectError(answer, 400, 'BAD_REQUEST');
    expect(answer.body.error.fields).toEqual(expect.any(Array));
  });

  test.each([
    ['null', 'null'],
    ['5', 'a number'],
    ['"DE1"', 'a string'],
    ['true', 'a boolean'],
    ['[]', 'an array'],
  ])('says that the body %s is JSON but not an object', async (text, type) => {
    expect((await raw(text)).body.error.message).toBe(`The body must be a JSON object, not ${type}.`);
  });

  describe.each(
    Object.values<Operation>(OPERATIONS)
      .filter(({ method, body, uploads }) => method === 'post' && !body && !uploads)
      .map(({ path }) => path),
  )('of %s, which takes no body,', (path) => {
    // The body is checked before the id is looked up, so an unknown id distinguishes the two errors.
    const real = path.replace('{id}', publicId(path.includes('deliveries') ? 'delivery' : 'check', newUuid()));
    const send = (text: string, type = 'application/json') => caller().post(real).set('Content-Type', type).send(text);

    test.each(['{', 'null', '[]', '5', '{"foo":1}', '{"__proto__":1}', ' '.repeat(64 * 1024 + 1)])(
      'is what the body %.20j gets',
      async (text) => expectError(await send(text), 400, 'BAD_REQUEST'),
    );

    test('is what another content type gets, also in chunks', async () => {
      expectError(await send('{}', 'text/plain'), 400, 'BAD_REQUEST');
      const chunked = await fetchRaw(
        real,
        'Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n',
      );
      expect(chunked).toMatch(/^HTTP\/1.1 400 .*"BAD_REQUEST"/s);
    });

    test('is not what no body and {} get, whatever content type an empty body declares', async () => {
      const heads = [
        'Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
        'Content-Type: text/plain\r\nContent-Length: 0\r\n',
        'Content-Type: application/json\r\nContent-Length: 0\r\n',
        'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n',
        'Content-Length: 0\r\n',
      ];
      for (const head of heads) expect(await fetchRaw(real, head)).toMatch(/"(NOT_FOUND|NO_WEBHOOK)"/);
      expect((await send('{}')).body.error.code).toMatch(/^(NOT_FOUND|NO_WEBHOOK)$/);
    });
  });

  test('is what a body in the wrong content type or coding gets', async () => {
    const good = '{"vat_number":"DE1"}';
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', 'nonsense']) {
      expectError(await raw(good, type), 400, 'BAD_REQUEST');
    }
    for (const charset of ['nonsense', 'utf-16', 'utf-7', 'latin1']) {
      const answer = await raw(good, `application/json; charset=${charset}`);
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.body.error.message).toContain('UTF-8');
    }
    expectError(await raw(good).set('Content-Encoding', 'nonsense'), 400, 'BAD_REQUEST');
    expectError(await raw(good).set('Content-Encoding', 'gzip'), 400, 'BAD_REQUEST');
    expectError(await caller().post('/v1/checks'), 400, 'BAD_REQUEST');
    for (const charset of ['utf-8', '"UTF-8"', 'utf8', 'UTF8'])
      expect([charset, (await raw(good, `application/json; charset=${charset}`)).status]).toEqual([charset, 201]);
  });

  test('is what a body that is not UTF-8 gets, because its text would be recorded as another one', async () => {
    const body = Buffer.from('{"vat_number":"DE1","reference":"M\u00fcller"}', 'latin1');
    for (const type of ['application/json', 'application/json; charset=UTF-8']) {
      const answer = await caller()
        .post('/v1/checks')
        .set('Content-Type', type)
        .serialize((sent) => sent)
        .send(body);
      expectError(answer, 400, 'BAD_REQUEST');
      expect(answer.body.error.message).toBe('The body is not UTF-8.');
    }
  });

  test.each([
    [{}, ['vat_number']],
    [{ vat_number: 5 }, ['vat_number']],
    [{ vat_number: null }, ['vat_number']],
    [{ vat_number: ['DE1'] }, ['vat_number']],
    [{ vat_number: { a: 1 } }, ['vat_number']],
    [{ vat_number: '' }, ['vat_number']],
    [{ vat_number: '\u0000' }, ['vat_number']],
    [{ vat_number: 'D'.repeat(41) }, ['vat_number']],
    [{ vat_number: 'DE1', surprise: 1 }, ['surprise']],
    [{ vat_number: 'DE1', Vat_number: 'DE1' }, ['Vat_number']],
    [{ vat_number: 'DE1', country_code: 5 }, ['country_code']],
    [{ vat_number: 'DE1', country_code: 'D'.repeat(11) }, ['country_code']],
    [{ vat_number: 'DE1', requester_vat_number: 5 }, ['requester_vat_number']],
    [{ vat_number: 'DE1', reference: '' }, ['reference']],
    [{ vat_number: 'DE1', reference: 'r'.repeat(65) }, ['reference']],
    [{ vat_number: 'DE1', reference: 'a\nb' }, ['reference']],
    [{ vat_number: 'DE1', reference: 'a\u0000b' }, ['reference']],
    [{ vat_number: 'DE1', reference: true }, ['reference']],
    [{ vat_number: 'DE1', trader: 'Acme' }, ['trader']],
    [{ vat_number: 'DE1', trader: { name: 5 } }, ['trader.name']],
    [{ vat_number: 'DE1', trader: { surname: 'x' } }, ['trader.surname']],
    [{ vat_number: 'DE1', trader: { city: 'a\u001bb' } }, ['trader.city']],
    [{ reference: '', surprise: 1 }, ['vat_number', 'reference', 'surprise']],
  ])('is what %j gets, with the fields to correct', async (body, fields) => {
    const answer = await post(body);
    expectError(answer, 400, 'BAD_REQUEST');
    expect(fieldsOf(answer.body)?.sort()).toEqual([...fields].sort());
  });

  test('is what an empty body gets, also where all fields are optional', async () => {
    const path = `/v1/watches/${publicId('watch', newUuid())}`;
    for (const text of ['', ' ']) {
      const answer = await caller().method('patch', path).set('Content-Type', 'application/json').send(text);
      expectError(answer, 400, 'BAD_REQUEST');
    }
    expectError(await caller().method('patch', path).send({}), 404, 'NOT_FOUND');
  });

  test('is what an own __proto__ gets', async () => {
    const answer = await raw('{"vat_number":"DE1","__proto__":{"a":1}}');
    expectError(answer, 400, 'BAD_REQUEST');
    expect(fieldsOf(answer.body)).toEqual(['__proto__']);
  });

  test('is not what the longest valid fields get', async () => {
    const answer = await post({ vat_number: `DE${'1'.repeat(38)}`, reference: 'r'.repeat(64) });
    expect([answer.status, answer.body.verdict]).toEqual([201, 'malformed']);
  });

  test('comes after UNAUTHORIZED', async () => {
    const answer = await world.http(null).post('/v1/checks').set('Content-Type', 'application/json').send('{');
    expectError(answer, 401, 'UNAUTHORIZED');
  });
});

describe('a malformed request', () => {
  const HEAD = 'POST /v1/checks HTTP/1.1\r\nHost: x\r\n';
  test.each([
    ['a header over 16 KiB', `${HEAD}Idempotency-Key: ${'k'.repeat(20_000)}\r\n\r\n`],
    ['headers of a megabyte', `${HEAD}${`X-A: ${'a'.repeat(1_000)}\r\n`.repeat(1_000)}\r\n`],
    ['a line that is no HTTP', 'hello\r\n\r\n'],
    ['a header without a name', `${HEAD}: x\r\n\r\n`],
    ['two lengths', `${HEAD}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`],
    ['a broken chunk', `${HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ['no Host', 'GET /healthz HTTP/1.1\r\n\r\n'],
    ['two of them', 'GET /healthz HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n'],
    ['an unknown expectation', `${HEAD}Expect: x\r\nContent-Length: 0\r\n\r\n`],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'],
  ])('%s is BAD_REQUEST in the envelope, with an X-Request-Id', async (_what, sent) =>
    expectError(await answerTo(sent), 400, 'BAD_REQUEST'),
  );

  test.each([
    ['a broken chunk', `${HEAD}X-Request-Id: mine-1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n`],
    ['CONNECT', 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\nX-Request-Id: mine-1\r\n\r\n'],
  ])('%s is answered with the X-Request-Id of its request', async (_what, sent) =>
    expect((await answerTo(sent)).headers['x-request-id']).toBe('mine-1'),
  );

  test('after a complete answer is answered too, and ends the connection', async () => {
    const connection = await openRaw(world.baseUrl());
    connection.send('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    await until('the answer', () => connection.text().includes('\r\n\r\n'));
    connection.send('nonsense\r\n\r\n');
    await until('the end', connection.isClosed);
    expect(connection.text().match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
  });
});

test.each([
  ['HTTP/1.0', 'GET /nothing HTTP/1.0\r\n\r\n'],
  [
    'HTTP/1.0 whose body was not read',
    `POST /v1/checks HTTP/1.0\r\nContent-Length: 60000\r\n\r\n${'x'.repeat(60_000)}`,
  ],
  ['Connection: close', 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'],
])('a refused request of %s is answered, and its connection ends', async (_what, sent) => {
  const connection = await openRaw(world.baseUrl());
  connection.send(sent);
  await until('the end', connection.isClosed);
  expect(connection.text()).toMatch(/^HTTP\/1\.1 4\d\d .*\}$/s);
  // With an unread body, Node would close the connection too early.
  if (!sent.startsWith('POST')) expect(connection.text()).toContain('\r\nConnection: close\r\n');
});

test('no cache may store what an operation answers to a key, or without one', async () => {
  const keyed = Object.values<Operation>(OPERATIONS).filter(({ key }) => key !== false);
  for (const { method, path: pattern } of keyed)
    for (const { method: send, post: sendPost } of [caller(), world.http(null)]) {
      const path = pattern.replace('{id}', 'x');
      const { headers } = await (method === 'post' ? sendPost(path) : send(method === 'get' ? 'head' : method, path));
      expect([path, headers['cache-control']]).toEqual([path, 'no-store']);
    }
});

test('a request is logged with the path that it was sent to', async () => {
  for (const path of ['/app/checks', '/app/assets/none.js', '/docs/swagger-ui.css', '/V1/usage/']) {
    const { headers } = await world.http(null).get(`${path}?a=b`);
    const id = `"request_id":"${headers['x-request-id']}"`;
    const line = await until('its log line', () => world.apis[0]?.lines().find((text) => text.includes(id)));
    expect(JSON.parse(line)).toMatchObject({ path });
  }
});

describe('X-Request-Id', () => {
  test.each(['abc-123', 'A.b:c_d', 'x'.repeat(128)])('%s is used, and is in the log', async (id) => {
    const { headers } = await caller().get('/v1/usage').set('X-Request-Id', id);
    expect(headers['x-request-id']).toBe(id);
    await until('its log line', () => world.apis[0]?.lines().some((line) => line.includes(`"request_id":"${id}"`)));
  });

  test.each(['', 'a b', 'x'.repeat(129), 'a"b', 'caf\u00e9'])('%j is replaced', async (id) => {
    const { headers } = await caller().get('/v1/usage').set('X-Request-Id', id);
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('is on every answer, errors included, and is unique', async () => {
    const ids = await Promise.all(
      ['/healthz', '/nothing', '/v1/usage'].map(
        async (path) => (await world.http(null).get(path)).headers['x-request-id'],
      ),
    );
    expect(new Set(ids).size).toBe(3);
    expect(ids).not.toContain(undefined);
  });
});
