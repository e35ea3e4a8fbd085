import { get, type IncomingMessage } from 'node:http';
import { MEMBER_STATES } from '@vat/domain';
import { resultsWorkbook } from '@vat/spreadsheet';
import {
  faultSize,
  insertAccount,
  slowness,
  startWorld,
  type TestAccount,
  until,
  uploadBatch,
  type World,
  watchLoop,
} from '@vat/testkit';

// The API is one thread: what computes for a second in it lets everybody else wait for a second.

let world: World;
beforeAll(async () => {
  // No worker processes the lines of the batches: they would only add load.
  world = await startWorld({ ownProcesses: true, settings: { WORKER_QUEUES: 'checks' } });
  // Warms up the process, so that the time of compiling code does not count.
  await upload('vat_number\nDE1\n');
});
afterAll(() => world?.stop());

const MAX_FILE = 2 * 1024 * 1024;
/** The longest turn of the event loop, in milliseconds of the main thread of a machine that is not {@link slowness slow}. */
const LONGEST_TURN_MS = 100;

/** The longest turn of the event loop since `loop` was begun, in milliseconds as {@link LONGEST_TURN_MS}. */
const stopped = async (loop: ReturnType<typeof watchLoop>): Promise<number> => (await loop.stop()) / slowness();

/**
 * The longest turn of the event loop while `work` runs: the shortest of up to three tries, since a measurement contains several
 * turns when this process is late to measure.
 */
const longestTurnOf = async (work: () => Promise<unknown>): Promise<number> => {
  let shortest = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && shortest > LONGEST_TURN_MS; tries += 1) {
    const loop = watchLoop(world);
    await work();
    shortest = Math.min(shortest, await stopped(loop));
  }
  return shortest;
};

/** Lines of each of the concurrent uploads, and downloads one after the other. */
const LINES = faultSize(1_000, 3_000);
const DOWNLOADS = faultSize(1, 3);

const upload = async (file: string | Buffer, type = 'text/csv') => {
  const { live_key: key } = await insertAccount(world);
  const { status, body } = await uploadBatch(world, file, { key, type });
  return { key, id: body.batch_id, outcome: status === 201 ? 'created' : String(Object(body.error).code) };
};

describe('no uploaded file delays other calls', () => {
  const FDFA = '\ufdfa';
  const row = (cells: string[]): string => `${cells.join(',')}\n`;
  const rows = (count: number, of: (n: number) => string[]): string =>
    Array.from({ length: count }, (_, n) => row(of(n))).join('');
  const cells = (count: number, cell: string): string[] => new Array<string>(count).fill(cell);
  /** Repeats a text as often as fits into a file of 2 MiB with another text. */
  const fill = (piece: string, beside = ''): string =>
    piece.repeat(Math.floor((MAX_FILE - Buffer.byteLength(beside)) / Buffer.byteLength(piece)));
  const front = 'vat_number,note\nDE1,';

  /** A small workbook whose sheet unpacks to 48 MiB of a text. */
  const bomb = (piece: string): Buffer => {
    const sheet = resultsWorkbook({ columns: [], header: null, width: 0, rows: 0 });
    const part = piece.repeat(Math.floor(2 ** 20 / piece.length));
    const packed = [sheet.pack('<worksheet><sheetData><row>', false)];
    for (let mib = 0; mib < 48; mib += 1) packed.push(sheet.pack(part, false));
    return Buffer.concat([...packed, sheet.pack('</row>', true)].map((chunk) => Buffer.from(chunk)));
  };

  const ENDED = /^(created|INVALID_CSV|INVALID_FILE|EMPTY_FILE|MISSING_CANDIDATE|TOO_MANY_ROWS)$/;
  /** Files that are slow to read or slow to refuse: the reason, and how the upload ends. */
  const FILES: [what: string, end: string | RegExp, file: () => string | Buffer][] = [
    ['900 columns of ones', 'MISSING_CANDIDATE', () => fill(row(cells(900, '1')))],
    ['a country, then 997 columns of ones', ENDED, () => fill(row(['DE', ...cells(997, '1')]))],
    ['900 columns that begin like a number', ENDED, () => fill(row(cells(900, 'DE1')))],
    ['ten rows of 1 000 long names', ENDED, () => rows(10, (n) => cells(1_000, `name ${n}`.padEnd(200, 'x')))],
    [
      'ten rows of 1 000 names that normalise to eighteen times their length',
      ENDED,
      () => rows(10, () => cells(1_000, FDFA.repeat(65))),
    ],
    ['ten rows of 1 000 names of slashes', ENDED, () => rows(10, () => cells(1_000, '/'.repeat(200)))],
    ['digits with a separator behind each', ENDED, () => rows(51, () => cells(1_000, '1\u00a0'.repeat(13)))],
    ['quotes alone', ENDED, () => fill('"')],
    ['rows whose last quote is not closed', ENDED, () => `${fill('DE1,x"y\n', 'DE1,"')}DE1,"`],
    ['blank rows', ENDED, () => `vat_number\n${fill(' \n', 'vat_number\nDE1\n')}DE1\n`],
    ['one cell of no-break spaces', ENDED, () => front + fill('\u00a0', front)],
    ['one cell of backslashes', 'created', () => front + fill('\\', front)],
    ['one cell of control characters', 'INVALID_CSV', () => front + fill('\u0001', front)],
    ['one cell of delimiters and quotes', ENDED, () => `${front}"${fill(';""', `${front}""`)}"`],
    [
      'a country of combining marks out of order',
      'created',
      () => `vat_number,country\nDE1,${'\u0301'.repeat(500_000)}${'\u0316'.repeat(500_000)}\n`,
    ],
    ['a workbook of empty cells', 'INVALID_FILE', () => bomb('<c/>')],
    ['a workbook of blanks', ENDED, () => bomb(' ')],
    ['NUL characters', ENDED, () => fill('\0')],
    ['UTF-16', ENDED, () => Buffer.from(`\ufeff${row(cells(900, '1')).repeat(580)}`, 'utf16le')],
    ['10 000 rows of 100 columns', 'created', () => rows(10_000, () => ['DE12', ...cells(99, 'x')])],
    [
      '10 000 malformed numbers with all columns',
      'created',
      () =>
        `vat_number,country,reference,requester\n${rows(10_000, (n) => [`DE1${n}`, 'Deutschland', 'r'.repeat(60), 'FR40303265045'])}`,
    ],
  ];

  const part = (headers: string, body: string) => `--X\r\n${headers}\r\n\r\n${body}\r\n`;
  const named = (name: string) => `Content-Disposition: form-data; name="${name}"`;
  const boundary = 'b'.repeat(8_000);
  /** Forms that are slow to parse, with their boundary. */
  const FORMS: [what: string, boundary: string, body: () => string][] = [
    ['twenty thousand parts', 'X', () => part(named('label'), 'x').repeat(20_000)],
    [
      'a part with twenty thousand headers',
      'X',
      () => part(`${named('file')}\r\n${'A: b\r\n'.repeat(20_000)}`, 'vat_number'),
    ],
    ['a field of 2 MiB', 'X', () => part(named('label'), fill('x'))],
    ['a file of beginnings of the boundary', 'X', () => part(named('file'), fill('\r\n--'))],
    ['a long boundary, and a file of nothing else', boundary, () => fill(`\r\n--${boundary.slice(1)}`)],
  ];

  test.each(FILES)('%s', async (_what, end, make) => {
    const file = make();
    expect(Buffer.byteLength(file)).toBeLessThanOrEqual(MAX_FILE);
    let outcome = '';
    const longest = await longestTurnOf(async () => {
      ({ outcome } = await upload(file));
    });
    expect(longest).toBeLessThan(LONGEST_TURN_MS);
    expect(outcome).toMatch(end);
  });

  test.each(FORMS)('%s', async (_what, limit, make) => {
    const form = make();
    const longest = await longestTurnOf(async () => {
      const { outcome } = await upload(form, `multipart/form-data; boundary=${limit}`);
      expect(outcome).toMatch(/^(BAD_REQUEST|FILE_TOO_LARGE|EMPTY_FILE|MISSING_CANDIDATE)$/);
    });
    expect(longest).toBeLessThan(LONGEST_TURN_MS);
  });
});

test('no JSON call delays other calls', async () => {
  const buckets = [0, 0, 0, 0, 0, 0, 0, 0, 90, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
  await world.sql(
    `INSERT INTO upstream_hour (member_state, hour, answered, saturated, unavailable, buckets)
     SELECT state, hour, 90, 8, 2, $1 FROM unnest($2::text[]) AS state,
       generate_series(date_trunc('hour', now()) - interval '31 days', now(), interval '1 hour') AS hour
     ON CONFLICT DO NOTHING`,
    [buckets, [...MEMBER_STATES]],
  );
  const { live_key: key } = await insertAccount(world);
  const from = new Date(Date.now() - 31 * 86_400_000).toISOString();
  const post = (text: string) => world.http(key).post('/v1/checks').set('Content-Type', 'application/json').send(text);
  const fill = (piece: string) => piece.repeat(Math.floor(64_000 / Buffer.byteLength(piece)));
  const surplus = Object.fromEntries(Array.from({ length: 7_000 }, (_, n) => [n.toString(36), 1]));
  const CALLS: Record<string, [call: () => PromiseLike<{ status: number }>, status: number]> = {
    'the history of 31 days': [() => world.http(key).get(`/v1/status/history?from=${from}`), 200],
    'the public status': [() => world.http(null).get('/status.json'), 200],
    'thousands of unknown fields': [() => post(JSON.stringify({ vat_number: 'DE1', ...surplus })), 400],
    'thousands of brackets': [
      () => post(`{"vat_number":"DE1","trader":${'['.repeat(32_000)}${']'.repeat(32_000)}}`),
      400,
    ],
    'a requester that normalises to eighteen times its length': [
      () => post(JSON.stringify({ vat_number: 'DE1', requester_vat_number: fill('\ufdfa') })),
      400,
    ],
    'a requester of combining marks out of order': [
      () =>
        post(
          JSON.stringify({
            vat_number: 'DE1',
            requester_vat_number: '\u0301'.repeat(15_000) + '\u0316'.repeat(15_000),
          }),
        ),
      400,
    ],
    'a requester of letters that look like a label': [
      () => post(JSON.stringify({ vat_number: 'DE1', requester_vat_number: fill('VATID') })),
      400,
    ],
  };
  const slow: string[] = [];
  for (const [what, [call, status]] of Object.entries(CALLS)) {
    const longest = await longestTurnOf(async () => expect([what, (await call()).status]).toEqual([what, status]));
    if (longest > LONGEST_TURN_MS) slow.push(`${what}: ${longest.toFixed()} ms`);
  }
  expect(slow).toEqual([]);
});

test(`thirty concurrent uploads of ${LINES} lines delay neither the event loop nor direct checks`, async () => {
  const accounts = await Promise.all(Array.from({ length: 6 }, () => insertAccount(world)));
  // Lines without a country end immediately, so that no work is left for the worker.
  const file = `vat_number,note\n${Array.from({ length: LINES }, (_, n) => `${100_000_000 + n},x${n}`).join('\n')}\n`;
  const direct = await insertAccount(world);
  const loop = watchLoop(world);
  let uploading = true;
  const uploads = Promise.all(
    accounts.flatMap(({ live_key: key }) => Array.from({ length: 5 }, () => uploadBatch(world, file, { key }))),
  ).finally(() => {
    uploading = false;
  });
  const checks: number[] = [];
  for (let n = 0; uploading; n += 1) {
    const number = `DE${200_000_000 + n}`;
    const { status } = await world.http(direct.live_key).post('/v1/checks', { vat_number: number });
    checks.push(status);
  }
  expect((await uploads).map(({ status, body }) => [status, body.failed])).toEqual(new Array(30).fill([201, LINES]));
  expect(checks.length).toBeGreaterThan(0);
  // On a busy machine a direct check may be answered 202, which is not an error.
  expect(checks.filter((status) => status !== 201 && status !== 202)).toEqual([]);
  expect(await stopped(loop)).toBeLessThan(LONGEST_TURN_MS);
});

describe('downloads of a results file of ten million cells', () => {
  let account: TestAccount;
  let id: string;
  beforeAll(async () => {
    account = await insertAccount(world);
    const header = ['vat_number', ...Array.from({ length: 999 }, (_, n) => `c${n}`)].join(',');
    const { status, body } = await uploadBatch(world, `${header}\n${'x\n'.repeat(10_000)}`, { key: account.live_key });
    expect(status).toBe(201);
    id = body.batch_id;
  });

  /** Begins a download and waits for its headers without reading the body. */
  const begin = (file: 'results.csv' | 'results.xlsx' = 'results.csv'): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${account.live_key}` };
      get(`${world.baseUrl()}/v1/batches/${id}/${file}`, { headers, agent: false }, resolve).once('error', reject);
    });
  const textOf = async (answer: IncomingMessage): Promise<string> => {
    let text = '';
    for await (const piece of answer.setEncoding('utf8')) text += String(piece);
    return text;
  };
  const refusalOf = async (answer: IncomingMessage) => {
    const { error } = JSON.parse(await textOf(answer)) as { error: Record<string, unknown> };
    return [answer.statusCode, answer.headers['retry-after'], error];
  };
  const REFUSED = [429, '2', { code: 'TOO_MANY_DOWNLOADS', message: expect.any(String), retry_after: 2 }];

  test('of four concurrent ones two run and two are refused, and no other call is delayed', async () => {
    const loop = watchLoop(world);
    const answers = await Promise.all(Array.from({ length: 4 }, () => begin()));
    const [refused, taken] = [429, 200].map((status) => answers.filter(({ statusCode }) => statusCode === status));
    expect([refused?.length, taken?.length]).toEqual([2, 2]);
    for (const answer of refused ?? []) expect(await refusalOf(answer)).toEqual(REFUSED);
    const lines = `x${','.repeat(1_007)}BAD_REQUEST`;
    for (const text of await Promise.all((taken ?? []).map(textOf))) {
      const [, ...rows] = text.split('\r\n');
      expect(rows.pop()).toBe('');
      expect(rows).toHaveLength(10_000);
      expect(new Set(rows)).toEqual(new Set([lines]));
    }
    expect(await stopped(loop)).toBeLessThan(LONGEST_TURN_MS);
  });

  test('another one may start as soon as a download has ended or its client has disconnected', async () => {
    const leaving = [await begin(), await begin()];
    expect(leaving.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
    expect(await refusalOf(await begin())).toEqual(REFUSED);
    expect(await refusalOf(await begin('results.xlsx'))).toEqual(REFUSED);
    // A HEAD request is not a download.
    const head = await world.http(account.live_key).method('head', `/v1/batches/${id}/results.csv`);
    expect(head.status).toBe(200);
    for (const answer of leaving) answer.destroy();
    const next = await until('a free place', async () => {
      const answer = await begin();
      if (answer.statusCode === 200) return answer;
      answer.resume();
      return null;
    });
    await textOf(next);
    // One download runs at the same time; these run one after the other, and each finds the permit of the previous one free.
    const beside = await begin();
    for (let n = 0; n < DOWNLOADS; n += 1) {
      const answer = await begin();
      expect(answer.statusCode).toBe(200);
      await textOf(answer);
    }
    beside.destroy();
  });
});
