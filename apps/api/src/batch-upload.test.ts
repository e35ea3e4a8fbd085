import { uuidOf } from '@vat/domain';
import { insertAccount, startWorld, type TestAccount, uploadBatch, type World } from '@vat/testkit';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  // Without workers a batch stays queued, which is all these tests need.
  world = await startWorld({ workers: 0 });
});
beforeEach(async () => {
  account = await insertAccount(world);
});
afterAll(() => world?.stop());

const FILE = 'vat_number;reference\nDE136695976;a\nATU13585627;b\n';

/** Names that every object inherits. */
const NAMES_OF_EVERY_OBJECT = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];

const form = (key = account.live_key) => world.http(key).post('/v1/batches');
const attach = (file: string | Buffer = FILE, fileName = 'suppliers.csv') =>
  form().attach('file', Buffer.from(file), fileName);
const raw = (file: string | Uint8Array = FILE, options: Parameters<typeof uploadBatch>[2] = {}) =>
  uploadBatch(world, file, { key: account.live_key, ...options });
const linesOf = async (batchId: string): Promise<{ line: number; input: string; reference: string | null }[]> =>
  (await world.http(account.live_key).get(`/v1/batches/${batchId}/lines`).expect(200)).body.data;
const batches = async () => (await world.http(account.live_key).get('/v1/batches').expect(200)).body.data;

/** A form as text, for forms that a client library would not produce. */
const writtenForm = (parts: string[], type = 'multipart/form-data; boundary=X') =>
  form()
    .set('Content-Type', type)
    .send(Buffer.from(`${parts.map((part) => `--X\r\n${part}\r\n`).join('')}--X--\r\n`));
const filePart = (disposition = 'filename="a.csv"', content = FILE) =>
  `Content-Disposition: form-data; name="file"; ${disposition}\r\nContent-Type: text/csv\r\n\r\n${content}`;

test('a form with a file is answered 201 with the batch and where to find it', async () => {
  const answer = await attach().field('label', 'Suppliers').field('requester_vat_number', 'FR40303265045');
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    batch_id: expect.stringMatching(/^bat_[0-9a-z]{26}$/),
    object: 'batch',
    status: 'queued',
    label: 'Suppliers',
    file_name: 'suppliers.csv',
    total: 2,
    done: 0,
    failed: 0,
    valid: 0,
    invalid: 0,
    eta: null,
    waiting_for: [],
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    completed_at: null,
  });
  expect(answer.headers.location).toBe(`${world.baseUrl()}/v1/batches/${answer.body.batch_id}`);
  const shown = await world.http(account.live_key).get(`/v1/batches/${answer.body.batch_id}`).expect(200);
  expect(shown.body).toEqual(answer.body);
  expect(await linesOf(answer.body.batch_id)).toEqual([
    expect.objectContaining({ line: 2, status: 'queued', input: 'DE136695976', reference: 'a', error: null }),
    expect.objectContaining({ line: 3, vat_number: 'ATU13585627', reference: 'b', check_id: null }),
  ]);
  const [row] = await world.sql<{ requester: string }>(
    `SELECT DISTINCT requester FROM request WHERE origin = 'batch' AND vat_number = 'DE136695976' AND requester IS NOT NULL`,
  );
  expect(row?.requester).toBe('FR40303265045');
});

test('the bytes alone, with name in the header and fields in the query, make the same batch', async () => {
  const { status, body } = await raw(FILE, {
    fileName: 'suppliers.csv',
    query: '?label=Suppliers%202026&requester_vat_number=FR40303265045',
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({ label: 'Suppliers 2026', file_name: 'suppliers.csv', total: 2 });
  const bare = await raw();
  expect(bare.body).toMatchObject({ label: null, file_name: null });
});

test('fields of a form may be in the query too, but not in both', async () => {
  const one = await world
    .http(account.live_key)
    .post('/v1/batches?label=Query')
    .attach('file', Buffer.from(FILE), 'a.csv');
  expect(one.body.label).toBe('Query');
  const both = await world
    .http(account.live_key)
    .post('/v1/batches?label=Query')
    .field('label', 'Form')
    .attach('file', Buffer.from(FILE), 'a.csv');
  expect(both.body.error).toMatchObject({ code: 'BAD_REQUEST', fields: [{ path: 'label' }] });
});

test.each([
  ['C:\\Users\\me\\Lieferanten.csv', 'Lieferanten.csv'],
  ['../../etc/passwd', 'passwd'],
  ['Übersicht €.csv', 'Übersicht €.csv'],
])('the file name %j is stored as %j', async (given, stored) => {
  const { body } = await writtenForm([filePart(`filename="${given}"`)]);
  expect(body.file_name).toBe(stored);
});

test('a label or file name that is not UTF-8 is refused, because it would be stored as another text', async () => {
  const send = (...parts: string[]) =>
    fetch(`${world.baseUrl()}/v1/batches`, {
      method: 'POST',
      headers: { authorization: `Bearer ${account.live_key}`, 'content-type': 'multipart/form-data; boundary=X' },
      body: Buffer.from([...parts.map((part) => `--X\r\n${part}\r\n`), '--X--\r\n'].join(''), 'latin1'),
    });
  const label = (type = '') => `Content-Disposition: form-data; name="label"\r\n${type}\r\nM\xfcller`;
  const refusals = [
    ['file', await send(filePart('filename="M\xfcller.csv"'))],
    ['file', await send(filePart(`filename*=UTF-8''M%FCller.csv`))],
    ['label', await send(filePart(), label())],
    ['label', await send(label('Content-Type: text/plain; charset=utf-8\r\n'), filePart())],
  ] as const;
  for (const [field, answer] of refusals) {
    const { error } = (await answer.json()) as { error: Record<string, unknown> };
    expect([answer.status, error.code]).toEqual([400, 'BAD_REQUEST']);
    expect(error.message).toContain('is not UTF-8');
    expect(error.fields).toMatchObject([{ path: field }]);
  }
  const declared = await send(label('Content-Type: text/plain; charset=iso-8859-1\r\n'), filePart());
  expect([declared.status, await declared.json()]).toEqual([201, expect.objectContaining({ label: 'Müller' })]);
});

test('a file without a name and a part without a type are accepted', async () => {
  const { status, body } = await writtenForm([`Content-Disposition: form-data; name="file"\r\n\r\n${FILE}`]);
  expect([status, body.file_name, body.total]).toEqual([201, null, 2]);
});

describe('a charset that is declared decides', () => {
  const windows1252 = Buffer.from('vat_number;name\nDE136695976;M\xfcller \x80 \xc3\xbc\n', 'latin1');
  const cells = async (batchId: string) =>
    (await world.http(account.live_key).get(`/v1/batches/${batchId}/results.csv`).expect(200)).text;

  test.each([
    ['text/csv; charset=windows-1252', windows1252, 'Müller € Ã¼'],
    ['text/csv; charset="ISO-8859-1"', windows1252, 'Müller € Ã¼'],
    ['text/csv; charset=utf-16le', Buffer.from('vat_number;name\nDE136695976;Müller\n', 'utf16le'), 'Müller'],
    ['text/csv; charset=UTF-8; header=present', Buffer.from('vat_number;name\nDE136695976;Müller\n'), 'Müller'],
  ])('%s', async (type, bytes, name) => {
    const { status, body } = await raw(bytes, { type });
    expect(status).toBe(201);
    expect(await cells(body.batch_id)).toContain(`DE136695976,${name},DE136695976,`);
  });

  test('and bytes that break it are INVALID_CSV with the line', async () => {
    const { status, body } = await raw(windows1252, { type: 'text/csv; charset=utf-8' });
    expect([status, body.error]).toEqual([400, expect.objectContaining({ code: 'INVALID_CSV', line: 2 })]);
  });

  test('and so are bytes that Windows-1252 does not have', async () => {
    const file = Buffer.from('vat_number;name\nDE136695976;\x8desko\n', 'latin1');
    for (const type of ['text/csv; charset=windows-1252', 'text/csv; charset=iso-8859-1', 'text/csv']) {
      const { status, body } = await raw(file, { type });
      expect([status, body.error]).toEqual([400, expect.objectContaining({ code: 'INVALID_CSV', line: 2 })]);
    }
  });

  test('an unsupported one is refused', async () => {
    for (const charset of ['ebcdic', ...NAMES_OF_EVERY_OBJECT]) {
      const { status, body } = await raw(FILE, { type: `text/csv; charset=${charset}` });
      expect([charset, status, body.error]).toEqual([
        charset,
        400,
        expect.objectContaining({
          code: 'BAD_REQUEST',
          fields: [{ path: 'Content-Type', message: expect.stringContaining('windows-1252') }],
        }),
      ]);
    }
  });
});

test('cells and headers named like inherited properties of objects are ordinary texts', async () => {
  const names = NAMES_OF_EVERY_OBJECT;
  const file = `vat_number,country,reference,${names.join(',')}\n${names.map((name) => `136695976,${name},${name},${names.join(',')}\n`).join('')}`;
  const { status, body } = await raw(file, { fileName: '__proto__' });
  expect([status, body]).toEqual([201, expect.objectContaining({ total: 5, failed: 5, file_name: '__proto__' })]);
  const lines = await linesOf(body.batch_id);
  expect(lines.map(({ reference }) => reference)).toEqual(names);
  for (const line of lines) expect(line).toMatchObject({ status: 'failed', error: { code: 'BAD_REQUEST' } });
});

test('a title above the header is not a line and is omitted from the results', async () => {
  const { status, body } = await raw('Kundenliste 2026;;\n;;\nName;USt-IdNr;Referenz\nMüller;DE136695976;A-1\n');
  expect([status, body]).toEqual([201, expect.objectContaining({ total: 1, failed: 0 })]);
  expect(await linesOf(body.batch_id)).toEqual([expect.objectContaining({ line: 4, reference: 'A-1' })]);
  const results = await world.http(account.live_key).get(`/v1/batches/${body.batch_id}/results.csv`).expect(200);
  expect(results.text).toMatch(/^Name,USt-IdNr,Referenz,vat_number,.*\r\nMüller,DE136695976,A-1,DE136695976,.*\r\n$/);
});

describe('files that cannot be used', () => {
  test.each<[string, string | Buffer, string, number | undefined]>([
    ['no bytes', '', 'EMPTY_FILE', undefined],
    ['a header alone', 'vat_number;reference\n', 'EMPTY_FILE', undefined],
    ['blank lines', '\r\n \r\n;;\r\n', 'EMPTY_FILE', undefined],
    ['10 001 rows', 'DE136695976\n'.repeat(10_001), 'TOO_MANY_ROWS', undefined],
    ['no column of numbers', 'name,town\nAnna,Bonn\nBert,Köln\n', 'MISSING_CANDIDATE', undefined],
    ['a quote that is never closed', 'vat_number\nDE136695976\n"DE1\n', 'INVALID_CSV', 3],
    ['a NUL', 'vat_number\nDE1366\0 95976\n', 'INVALID_CSV', 2],
    ['a workbook', Buffer.from('PK\x03\x04\x14\x00\x06\x00[Content_Types].xml', 'latin1'), 'INVALID_FILE', 1],
  ])('%s: %#', async (_what, file, code, line) => {
    const answers = [await raw(file), await attach(file).then(({ status, body }) => ({ status, body }))];
    for (const { status, body } of answers) {
      expect([status, body.error]).toEqual([400, expect.objectContaining({ code, message: expect.any(String) })]);
      expect((body.error as { line?: number }).line).toBe(line);
    }
    expect(await batches()).toEqual([]);
  });

  test('exactly 10 000 rows are accepted', async () => {
    const { status, body } = await raw('DE136695976\n'.repeat(10_000));
    expect([status, body.total]).toEqual([201, 10_000]);
  });
});

describe('bodies that are not an upload', () => {
  const refused = (
    what: string,
    send: () => PromiseLike<{ status: number; body: Record<string, unknown> }>,
    path: string,
  ) =>
    test(`${what} is BAD_REQUEST`, async () => {
      const { status, body } = await send();
      expect([status, body.error]).toEqual([
        400,
        expect.objectContaining({ code: 'BAD_REQUEST', fields: [{ path, message: expect.any(String) }] }),
      ]);
    });

  refused('JSON', () => form().send({ file: FILE }), 'Content-Type');
  refused('a file of another type', () => raw(FILE, { type: 'application/vnd.ms-excel' }), 'Content-Type');
  refused('a body without a type', () => form().unset('Content-Type'), 'Content-Type');
  refused('multipart of another kind', () => writtenForm([filePart()], 'multipart/mixed; boundary=X'), 'Content-Type');
  refused('a form without a boundary', () => writtenForm([filePart()], 'multipart/form-data'), 'Content-Type');
  refused(
    'a compressed file',
    () => form().set('Content-Encoding', 'gzip').type('text/csv').send(FILE),
    'Content-Encoding',
  );
  refused('a form without a file', () => form().field('label', 'x'), 'file');
  refused('a form with no part', () => form().type('multipart/form-data; boundary=X').send('--X--\r\n'), 'file');
  refused('two files', () => attach().attach('file', Buffer.from(FILE), 'b.csv'), 'file');
  refused('a file by another name', () => form().attach('upload', Buffer.from(FILE), 'a.csv'), 'upload');
  refused('an unknown field', () => attach().field('colour', 'red'), 'colour');
  refused('a field that is sent twice', () => attach().field('label', 'a').field('label', 'b'), 'label');
  refused('a label that is a file', () => attach().attach('label', Buffer.from('x'), 'a.txt'), 'label');
  refused('an empty label', () => attach().field('label', ''), 'label');
  refused('a label of blanks', () => attach().field('label', ' \u00a0\u3000'), 'label');
  refused('a label of 101 characters', () => attach().field('label', 'x'.repeat(101)), 'label');
  refused('a label of many thousand characters', () => attach().field('label', 'x'.repeat(50_000)), 'label');
  refused('a label with a line break', () => attach().field('label', 'a\nb'), 'label');
  refused('a part without a name', () => writtenForm([filePart(), 'Content-Disposition: form-data\r\n\r\nx']), '');
  refused('a form of too many parts', () => writtenForm(Array.from({ length: 21 }, () => 'X-Nothing: x\r\n\r\n')), '');
  refused(
    'a form that ends early',
    () => form().type('multipart/form-data; boundary=X').send(`--X\r\n${filePart()}`),
    '',
  );
  refused('an unknown query parameter', () => raw(FILE, { query: '?colour=red' }), 'colour');
  for (const name of NAMES_OF_EVERY_OBJECT) {
    refused(`a field called ${name}`, () => attach().field(name, 'x'), name);
    refused(`a file called ${name}`, () => form().attach(name, Buffer.from(FILE), 'a.csv'), name);
    refused(`a query parameter called ${name}`, () => raw(FILE, { query: `?${name}=x` }), name);
  }
  refused(
    'a boundary longer than the limit',
    () => writtenForm([filePart()], `multipart/form-data; boundary=${'X'.repeat(71)}`),
    'Content-Type',
  );
  refused('an empty label in the query', () => raw(FILE, { query: '?label=' }), 'label');

  test('a label of 100 characters, also outside ASCII, is stored', async () => {
    const label = `${'ü'.repeat(98)}\u{1F600}`;
    expect((await attach().field('label', label)).body.label).toBe(label);
  });

  test('text around the parts of a form is ignored', async () => {
    const answer = await form()
      .type('multipart/form-data; boundary=X')
      .send(Buffer.from(`preamble\r\n--X\r\n${filePart()}\r\n--X--\r\nepilogue`));
    expect(answer.status).toBe(201);
  });
});

test.each(['GB123456789', 'DE1', ''])('the requester %j is INVALID_REQUESTER', async (requester) => {
  const { status, body } = await attach().field('requester_vat_number', requester);
  expect([status, body.error.code]).toEqual([400, 'INVALID_REQUESTER']);
});

describe('the order of checks', () => {
  const code = ({ body }: { body: Record<string, never> }) => (body as { error?: { code?: string } }).error?.code;

  test('a test key is refused before the body is read, on all routes of batches', async () => {
    const key = account.test_key;
    expect(await raw('', { key, type: 'application/json' }).then(code)).toBe('TEST_KEY_NOT_ALLOWED');
    for (const path of ['', '/bat_1', '/bat_1/lines?limit=x', '/bat_1/results.csv']) {
      const { status, body } = await world.http(key).get(`/v1/batches${path}`);
      expect([path, status, body.error.code]).toEqual([path, 403, 'TEST_KEY_NOT_ALLOWED']);
    }
    expect((await world.http(key).method('delete', '/v1/batches/bat_1')).status).toBe(403);
  });

  test('a missing key is reported before a test key, and an error of the file before one of the account', async () => {
    expect(await raw('', { key: 'none' }).then(code)).toBe('UNAUTHORIZED');
    await world.sql(
      `UPDATE account SET disabled_at = now() WHERE id = (SELECT id FROM account ORDER BY created_at DESC LIMIT 1)`,
    );
    expect(await raw('').then(code)).toBe('EMPTY_FILE');
    expect(await raw(FILE, { query: '?requester_vat_number=x' }).then(code)).toBe('INVALID_REQUESTER');
    expect(await raw(FILE, { idempotencyKey: 'k'.repeat(256) }).then(code)).toBe('BAD_REQUEST');
    expect(await raw().then(code)).toBe('ACCOUNT_DISABLED');
    expect(await batches()).toEqual([]);
  });

  test('a replay is answered even when too many batches are active', async () => {
    const first = await raw(FILE, { idempotencyKey: 'early' });
    await Promise.all([1, 2, 3, 4].map(() => raw()));
    expect(await raw().then(code)).toBe('TOO_MANY_BATCHES');
    expect(await raw(FILE, { idempotencyKey: 'early' })).toMatchObject({ status: 201, body: first.body });
    expect(await raw(`${FILE}\n`, { idempotencyKey: 'early' }).then(code)).toBe('IDEMPOTENCY_MISMATCH');
    expect(await raw(FILE, { idempotencyKey: 'late' }).then(code)).toBe('TOO_MANY_BATCHES');
  });
});

test('more than 200 000 lines in 24 hours are refused until enough of them have left the window', async () => {
  const { length } = await batches();
  expect(length).toBe(0);
  // Earlier uploads: 150 000 lines twenty hours ago, the rest except one an hour ago, and many two days ago.
  const [{ now } = { now: new Date() }] = await world.sql<{ now: Date }>(
    `WITH uploads AS (
       INSERT INTO batch_upload (id, account_id, lines, created_at)
       SELECT gen_random_uuid(), $1, lines, date_trunc('milliseconds', now()) - ago::interval
       FROM (VALUES (150000, '20 hours'), (49999, '1 hour'), (200000, '2 days')) AS x(lines, ago))
     SELECT date_trunc('milliseconds', now()) AS now`,
    [uuidOf('account', account.account_id)],
  );
  const { status, headers, body } = await raw();
  expect([status, body.error]).toEqual([
    429,
    {
      code: 'BATCH_LINE_LIMIT',
      message: 'The account may upload 200 000 lines in 24 hours.',
      reset_at: new Date(now.getTime() + 4 * 3_600_000).toISOString(),
    },
  ]);
  expect(headers.has('retry-after')).toBe(false);
  expect(await batches()).toEqual([]);

  const first = await raw('vat_number\nDE1\n', { idempotencyKey: 'last line' });
  expect(first.status).toBe(201);
  expect((await raw('vat_number\nDE1\n')).body.error).toMatchObject({ code: 'BATCH_LINE_LIMIT' });
  // A replay of an existing batch is still answered.
  expect(await raw('vat_number\nDE1\n', { idempotencyKey: 'last line' })).toMatchObject({
    status: 201,
    body: first.body,
  });
});

describe('Idempotency-Key', () => {
  test('twenty identical uploads at once make one batch', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => raw(FILE, { idempotencyKey: 'crowd' })));
    const made = answers.filter(({ status }) => status === 201);
    const busy = answers.filter(({ status }) => status === 409);
    expect(made.length + busy.length).toBe(20);
    expect(new Set(made.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(made.filter(({ headers }) => !headers.has('idempotency-replayed'))).toHaveLength(1);
    for (const { body } of busy) expect(body.error).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS' });
    expect(await batches()).toHaveLength(1);
  });

  test('a replay repeats the first answer, however the same file and fields are sent', async () => {
    const first = await raw(FILE, { idempotencyKey: 'ways', query: '?label=Mine' });
    const again = await attach(FILE, 'other name.csv').field('label', 'Mine').set('Idempotency-Key', 'ways');
    expect(again.status).toBe(201);
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(again.headers.location).toBe(first.headers.get('location'));
    expect(again.text).toBe(JSON.stringify(first.body));
    expect(await batches()).toHaveLength(1);
  });

  test.each([
    ['another file', `${FILE}DE1\n`, {}],
    ['another label', FILE, { query: '?label=Theirs' }],
    ['another requester', FILE, { query: '?label=Mine&requester_vat_number=FR40303265045' }],
    ['another charset', FILE, { query: '?label=Mine', type: 'text/csv; charset=windows-1252' }],
  ])('%s is a mismatch', async (_what, file, options) => {
    await raw(FILE, { idempotencyKey: 'taken', query: '?label=Mine' });
    const { status, body } = await raw(file, { idempotencyKey: 'taken', ...options });
    expect([status, body.error]).toEqual([422, expect.objectContaining({ code: 'IDEMPOTENCY_MISMATCH' })]);
  });

  test('a refused file does not take the key', async () => {
    expect((await raw('', { idempotencyKey: 'free' })).status).toBe(400);
    const made = await raw(FILE, { idempotencyKey: 'free' });
    expect([made.status, made.headers.get('idempotency-replayed')]).toEqual([201, null]);
  });
});

test('of twelve concurrent uploads over two processes five become batches, and the others are refused with the number of active ones', async () => {
  const second = await world.startApi();
  const other = { ...world, baseUrl: () => String(second.ready.base_url) };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => uploadBatch(n % 2 ? world : other, FILE, { key: account.live_key })),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(7);
  for (const { body } of refused) {
    expect(body.error).toEqual({ code: 'TOO_MANY_BATCHES', message: expect.any(String), active: 5 });
  }
  expect(await batches()).toHaveLength(5);
});
