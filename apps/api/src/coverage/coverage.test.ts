import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { XLSX_TYPE } from '@vat/contracts';
import { uuidOf } from '@vat/domain';
import { COVERAGE_COLUMNS, readBatchFile } from '@vat/spreadsheet';
import {
  insertAccount,
  insertChecks,
  numberOf,
  provideAuditorTools,
  type RunTool,
  startWorld,
  type TestAccount,
  unpackDossier,
  type World,
} from '@vat/testkit';

const NUMBER = numberOf('FR', 0);
const OTHER = 'ATU33803803';
const DAY_MS = 86_400_000;

let world: World;
let run: RunTool;
let account: TestAccount;
beforeAll(async () => {
  [world, run] = await Promise.all([startWorld({ workers: 0 }), provideAuditorTools()]);
});
beforeEach(async () => {
  account = await insertAccount(world);
});
afterAll(() => world?.stop());

const call = async (
  method: string,
  at: string,
  body?: string | Buffer,
  headers: Record<string, string> = {},
  key = account.live_key,
) => {
  const response = await fetch(`${world.baseUrl()}/v1/coverage${at}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'text/csv' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body }),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    bytes,
    body: isJson ? JSON.parse(bytes.toString()) : null,
  };
};
const upload = (file: string | Buffer, query = '', headers: Record<string, string> = {}) =>
  call('POST', query, file, headers);

/** A valid check of {@link NUMBER} with the grade `named`; the public id. */
const checkAt = async (at: string, change: { valid?: false; grade?: string } = {}): Promise<string> => {
  const [id] = await insertChecks(world, { accountId: account.account_id, count: 1, from: new Date(at), exchanges: 1 });
  const text = `replace(convert_from(body, 'UTF8'), '"evidence_grade":"named"', '"evidence_grade":"${change.grade}"')`;
  if (change.valid === false) await world.sql('UPDATE "check" SET valid = false WHERE id = $1', [id]);
  if (change.grade) await world.sql(`UPDATE "check" SET body = convert_to(${text}, 'UTF8') WHERE id = $1`, [id]);
  return String(id);
};
const statusesOf = async (id: string, query = ''): Promise<unknown[]> => {
  const { status, body } = await call('GET', `/${id}/lines${query}`);
  expect(status).toBe(200);
  return body.data.map(({ line, status: word }: { line: number; status: string }) => `${line} ${word}`);
};

test('every line gets the status of its number at its date, and the check that decides it', async () => {
  await checkAt('2026-01-10T12:00:00.000Z');
  const last = await checkAt('2026-03-01T23:59:59.000Z', { grade: 'qualified' });
  await checkAt('2026-03-20T12:00:00.000Z');
  await checkAt('2026-06-01T12:00:00.000Z', { valid: false });
  const file = [
    'USt-IdNr;Lieferdatum;Referenz',
    `${NUMBER};2026-01-09;A`,
    `${NUMBER};10.01.2026;B`,
    `${NUMBER};2026/02/10;C`,
    `${NUMBER};01/03/2026;D`,
    `${NUMBER};31-03-2026;E`,
    `${NUMBER};1.6.26;F`,
    `${OTHER};2026-03-01;G`,
    '12345678;2026-03-01;H',
    '',
  ].join('\r\n');
  const named = await upload(file, '?label=Q1', { 'content-disposition': 'attachment; filename="Lieferungen.csv"' });
  expect([named.status, named.body]).toEqual([
    201,
    {
      ...{ coverage_id: expect.stringMatching(/^cov_/), object: 'coverage', label: 'Q1', file_name: 'Lieferungen.csv' },
      ...{ max_age_days: 30, min_grade: 'basic', total: 8, covered: 3, stale: 1, weak: 0, invalid: 1, missing: 3 },
      ...{ batch_id: null, created_at: expect.any(String) },
    },
  ]);
  const id = named.body.coverage_id as string;
  expect(named.headers.get('location')).toBe(`${world.baseUrl()}/v1/coverage/${id}`);
  expect(await statusesOf(id)).toEqual([
    ...['2 missing', '3 covered', '4 stale', '5 covered', '6 covered', '7 invalid', '8 missing', '9 missing'],
  ]);
  expect(await statusesOf(id, '?status=missing')).toEqual(['2 missing', '8 missing', '9 missing']);
  const lines = await call('GET', `/${id}/lines?limit=4`);
  expect(lines.body.data[3]).toEqual({
    ...{ line_id: expect.stringMatching(/^lin_/), line: 5, status: 'covered', input: NUMBER, vat_number: NUMBER },
    ...{ supply_date: '2026-03-01', reference: 'D', check_id: expect.stringMatching(/^chk_/) },
    ...{ checked_at: '2026-03-01T23:59:59.000Z', evidence_grade: 'qualified', error: null },
  });
  expect(uuidOf('check', lines.body.data[3].check_id)).toBe(last);
  const rest = await call('GET', `/${id}/lines?limit=4&cursor=${lines.body.next_cursor}`);
  expect([rest.body.data.length, rest.body.next_cursor]).toEqual([4, null]);
  expect(rest.body.data[3].error).toMatchObject({ code: 'BAD_REQUEST' });

  // The last check in time is weaker than the wanted grade; an earlier one in time has it.
  const strict = (await upload(file, '?min_grade=qualified&max_age_days=45')).body;
  expect(await statusesOf(strict.coverage_id)).toEqual([
    ...['2 missing', '3 weak', '4 weak', '5 covered', '6 covered', '7 invalid', '8 missing', '9 missing'],
  ]);

  const csv = await call('GET', `/${id}/results.csv?delimiter=;`);
  expect(csv.headers.get('content-disposition')).toBe('attachment; filename=Lieferungen-results.csv');
  expect(csv.bytes.toString().split('\r\n').slice(0, 3)).toEqual([
    'USt-IdNr;Lieferdatum;Referenz;coverage;vat_number_read;supply_date_read;check_id;checked_at;age_days;evidence_grade;error',
    `${NUMBER};2026-01-09;A;missing;${NUMBER};2026-01-09;;;;;`,
    expect.stringMatching(/^FR\d+;10\.01\.2026;B;covered;FR\d+;2026-01-10;chk_\w+;2026-01-10T12:00:00\.000Z;0;named;$/),
  ]);
  for (const lang of ['en', 'pl']) {
    const report = await call('GET', `/${id}/report.pdf?lang=${lang}`);
    expect([report.status, report.headers.get('content-type')]).toEqual([200, 'application/pdf']);
    expect(report.bytes.toString('latin1')).toMatch(/^%PDF-[\s\S]*\/Count 2\b/);
  }
  expect((await call('GET', `/${id}/report.pdf?lang=pt`)).body.error.code).toBe('BAD_REQUEST');

  expect((await call('GET', '')).body.data.map((one: { coverage_id: string }) => one.coverage_id)).toEqual([
    strict.coverage_id,
    id,
  ]);
  expect((await call('DELETE', `/${id}`)).status).toBe(204);
  expect([(await call('GET', `/${id}`)).status, (await call('DELETE', `/${id}`)).status]).toEqual([404, 404]);
});

test('a date that cannot be read, a file without dates and fields out of range are refused', async () => {
  const refused = async (file: string, query = '') => (await upload(file, query)).body.error;
  expect(await refused(`vat_number,date\n${NUMBER},2026-03-01\n${NUMBER},12/31/2026\n`)).toMatchObject({
    ...{ code: 'INVALID_CSV', line: 3, message: expect.stringMatching(/month first, as in the USA/) },
  });
  expect(await refused(`vat_number\n${NUMBER}\n`)).toMatchObject({ code: 'MISSING_SUPPLY_DATE' });
  expect(await refused(`vat_number;sent;paid\n${NUMBER};1.3.2026;2.3.2026\n`)).toMatchObject({
    ...{ code: 'MISSING_SUPPLY_DATE', message: expect.stringMatching(/“sent”\) and 3 \(“paid”\).*“supply_date”/) },
  });
  expect(await refused(`vat_number,date\n${NUMBER},46387\n`)).toMatchObject({
    ...{ code: 'INVALID_CSV', line: 2, message: expect.stringMatching(/“46387” is a number.*a date format/) },
  });
  for (const query of ['?max_age_days=0', '?max_age_days=367', '?min_grade=none', '?queue_gaps=yes'])
    expect(await refused(`vat_number,date\n${NUMBER},2026-03-01\n`, query)).toMatchObject({ code: 'BAD_REQUEST' });
});

test('dates of a workbook are read as dates, and the results are a workbook too', async () => {
  await checkAt('2026-10-01T12:00:00.000Z');
  const file = await readFile(new URL('../../../../packages/spreadsheet/fixtures/openpyxl-1904.xlsx', import.meta.url));
  const { status, body } = await upload(file, '?label=Q4&sheet=sheet', { 'content-type': XLSX_TYPE });
  expect([status, body.total]).toEqual([201, 2]);
  const lines = await call('GET', `/${body.coverage_id}/lines`);
  expect(lines.body.data.map((line: { supply_date: string }) => line.supply_date)).toEqual([
    '2026-10-14',
    '2026-10-20',
  ]);
  const results = await call('GET', `/${body.coverage_id}/results.xlsx`);
  expect(results.headers.get('content-type')).toBe(XLSX_TYPE);
  const { header, rows } = readBatchFile(results.bytes);
  expect(header).toEqual(['vat_number', 'supply_date', ...COVERAGE_COLUMNS]);
  expect(rows.map(({ cells }) => [cells[1], cells[4]])).toEqual([
    ['2026-10-14', '2026-10-14'],
    ['2026-10-20 23:59:00', '2026-10-20'],
  ]);
  const other = await readFile(new URL('../../../../packages/spreadsheet/fixtures/xlsxwriter.xlsx', import.meta.url));
  expect((await upload(other)).body.error).toMatchObject({
    ...{ code: 'INVALID_FILE', line: 3, message: expect.stringMatching(/^Line 3: .*before 1993/) },
  });
});

test('a repeated call is one coverage with one batch of the uncovered numbers', async () => {
  await checkAt('2026-03-01T12:00:00.000Z');
  const file = `vat_number,date\n${NUMBER},2026-03-02\n${OTHER},2026-03-02\n${OTHER},2026-04-02\n12345678,2026-03-02\n`;
  const key = { 'idempotency-key': 'gaps' };
  const first = await upload(file, '?queue_gaps=true', key);
  const again = await upload(file, '?queue_gaps=true', key);
  expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true']);
  expect(again.bytes.equals(first.bytes)).toBe(true);
  expect((await upload(file, '', key)).body.error.code).toBe('IDEMPOTENCY_MISMATCH');
  const { body: lines } = await world.http(account.live_key).get(`/v1/batches/${first.body.batch_id}/lines`);
  expect(lines.data).toMatchObject([{ line: 3, vat_number: OTHER, status: 'queued' }]);
  expect(
    await world.sql('SELECT lines FROM batch_upload WHERE account_id = $1', [uuidOf('account', account.account_id)]),
  ).toEqual([{ lines: 4 }]);
});

test('coverages are for live keys, and of their own account', async () => {
  const file = `vat_number,date\n${NUMBER},2026-03-02\n`;
  const { body } = await upload(file);
  const stranger = await insertAccount(world);
  for (const at of ['', '/lines', '/results.csv', '/report.pdf'])
    expect((await call('GET', `/${body.coverage_id}${at}`, undefined, {}, stranger.live_key)).status).toBe(404);
  expect((await call('POST', '', file, {}, account.test_key)).body.error.code).toBe('TEST_KEY_NOT_ALLOWED');
  expect((await call('GET', '', undefined, {}, account.test_key)).body.error.code).toBe('TEST_KEY_NOT_ALLOWED');
});

test('the dossier of a coverage holds exactly the checks that cover it, and the report', async () => {
  const covering = await checkAt(new Date(Date.now() - 10 * DAY_MS).toISOString());
  await insertChecks(world, { accountId: account.account_id, count: 3 });
  const date = new Date(Date.now() - 5 * DAY_MS).toISOString().slice(0, 10);
  const { body } = await upload(`vat_number,date\n${NUMBER},${date}\n${NUMBER},${date}\n${OTHER},${date}\n`);
  const dossier = (query: string) =>
    fetch(`${world.baseUrl()}/v1/exports/dossier.zip?${query}`, {
      headers: { authorization: `Bearer ${account.live_key}` },
    });
  const response = await dossier(`coverage_id=${body.coverage_id}`);
  const folder = await unpackDossier(run, Readable.from([Buffer.from(await response.arrayBuffer())]));
  try {
    expect(await run('python3', [path.join(folder, 'verify.py')])).toMatchObject({
      ...{ code: 0, output: expect.stringContaining('ALL HOLDS') },
    });
    const manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({ choice: { coverage_id: body.coverage_id }, counts: { checks: 1, requests: 0 } });
    const [file = ''] = await readdir(path.join(folder, 'checks'));
    expect(uuidOf('check', file.replace('.json', ''))).toBe(covering);
    expect(await readFile(path.join(folder, 'coverage', 'results.csv'), 'utf8')).toMatch(
      /covered[\s\S]*covered[\s\S]*missing/,
    );
    expect((await readFile(path.join(folder, 'coverage', 'report.pdf'))).toString('latin1')).toMatch(/^%PDF-/);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  for (const id of ['cov_01kafksw1te0a9v6n3r4t7y1bd', 'bat_01kafksw1te0a9v6n3r4t7y1bd', 'nonsense', ''])
    expect((await dossier(`coverage_id=${id}`)).status).toBe(404);
  expect((await dossier(`coverage_id=${body.coverage_id}&reference=A`)).status).toBe(400);
});
