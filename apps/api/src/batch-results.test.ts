import { readFile } from 'node:fs/promises';
import { XLSX_TYPE } from '@vat/contracts';
import { readBatchFile } from '@vat/spreadsheet';
import {
  insertAccount,
  startWorld,
  type TestAccount,
  type UploadOptions,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';

let world: World;
let account: TestAccount;
beforeAll(async () => {
  world = await startWorld();
});
beforeEach(async () => {
  account = await insertAccount(world);
});
afterAll(() => world?.stop());

/** One line that needs no upstream. */
const SHORT = 'vat_number\nDE1\n';

const get = (path: string) => world.http(account.live_key).get(`/v1/batches${path}`);
const upload = async (file: string | Uint8Array, options: UploadOptions = {}): Promise<string> => {
  const { status, body } = await uploadBatch(world, file, { key: account.live_key, ...options });
  expect(status).toBe(201);
  return body.batch_id;
};
const completed = (id: string) =>
  until(`${id} to complete`, async () => {
    const { body } = await get(`/${id}`);
    return body.status === 'completed' && body;
  });
const download = (path: string) => get(path).responseType('blob');
const csv = async (id: string, query = ''): Promise<Buffer> => {
  const answer = await download(`/${id}/results.csv${query}`);
  expect([answer.status, answer.headers['content-type']]).toEqual([
    200,
    expect.stringMatching(/^text\/csv; charset=utf-8/),
  ]);
  return answer.body;
};

describe('results.csv', () => {
  test('has empty columns where there is no result yet', async () => {
    // Two lookups run at a time, so the last line waits for about three seconds.
    await world.vies.state('AT', { latency_ms: 700 });
    const numbers = Array.from({ length: 8 }, (_, n) => `ATU${30_000_000 + n}`);
    const id = await upload(`n;vat_number\n${numbers.map((number, n) => `${n};${number}\n`).join('')}`);
    const early = (await csv(id)).toString();
    expect(early.split('\r\n')).toHaveLength(10);
    expect(early).toContain('\r\n7,ATU30000007,ATU30000007,,,,,,,\r\n');
    await completed(id);
    expect((await csv(id)).toString()).toContain('\r\n7,ATU30000007,ATU30000007,true,valid,');
  });

  test('contains the uploaded Windows-1252 file and the results, byte for byte', async () => {
    await world.vies.script('FR40303265045', [
      { kind: 'valid', name: 'Société «Ö»; Filiale', address: '1 rue A\n75002 Paris' },
    ]);
    await world.vies.script('DE111111111', ['invalid']);
    const id = await upload(
      Buffer.from(
        [
          'Firma;USt-IdNr;Referenz;Notiz',
          'M\xfcller \x80;FR 40 303 265 045;A-1;"eins; zwei"',
          '"Stra\xdfe ""8""";DE111111111;A-2',
          '',
          'Oty;12345678;A-3;=1+1',
          'Nix;;A-4;-x',
          '',
        ].join('\r\n'),
        'latin1',
      ),
      { fileName: 'Kunden.csv' },
    );
    await completed(id);
    const { data } = (await get(`/${id}/lines`)).body;
    const check = (n: number) => data[n].check_id;
    const rows = (d: string) =>
      [
        [
          'Firma',
          'USt-IdNr',
          'Referenz',
          'Notiz',
          'vat_number',
          'valid',
          'verdict',
          'name',
          'address',
          'consultation_number',
          'check_id',
          'error',
        ],
        [
          'Müller €',
          'FR 40 303 265 045',
          'A-1',
          '"eins; zwei"',
          'FR40303265045',
          'true',
          'valid',
          '"Société «Ö»; Filiale"',
          '"1 rue A\n75002 Paris"',
          '',
          check(0),
          '',
        ],
        ['"Straße ""8"""', 'DE111111111', 'A-2', '', 'DE111111111', 'false', 'invalid', '', '', '', check(1), ''],
        ['Oty', '12345678', 'A-3', "'=1+1", '', '', '', '', '', '', '', 'BAD_REQUEST'],
        ['Nix', '', 'A-4', "'-x", '', '', '', '', '', '', '', 'BAD_REQUEST'],
      ]
        .map((cells) => `${cells.join(d)}\r\n`)
        .join('');
    expect(data.map(({ line }: { line: number }) => line)).toEqual([2, 3, 5, 6]);
    expect((await csv(id)).toString()).toBe(rows(','));
    expect(await csv(id, '?delimiter=;&bom=true')).toEqual(Buffer.from(`\ufeff${rows(';')}`));
    expect((await csv(id, '?delimiter=tab&bom=false')).toString()).toBe(rows('\t'));
    expect((await csv(id, '?delimiter=%5Ct')).toString()).toBe(rows('\t'));
  });

  test('is named after its file, or after the batch', async () => {
    const named = await upload(SHORT, { fileName: 'Kunden 2026.csv' });
    const sent = async (fileName: string): Promise<string> =>
      (await world.http(account.live_key).post('/v1/batches').attach('file', Buffer.from(SHORT), fileName)).body
        .batch_id;
    const [umlaut, mixed, foreign] = [await sent('Übersicht.csv'), await sent('客户 2026.csv'), await sent('客户.csv')];
    const bare = await upload(SHORT);
    const dispositions: unknown[] = [];
    for (const id of [named, umlaut, mixed, foreign, bare])
      dispositions.push((await get(`/${id}/results.csv`)).headers['content-disposition']);
    expect(dispositions).toEqual([
      'attachment; filename="Kunden 2026-results.csv"',
      `attachment; filename=Ubersicht-results.csv; filename*=UTF-8''%C3%9Cbersicht-results.csv`,
      `attachment; filename="_ 2026-results.csv"; filename*=UTF-8''%E5%AE%A2%E6%88%B7%202026-results.csv`,
      `attachment; filename=results.csv; filename*=UTF-8''%E5%AE%A2%E6%88%B7-results.csv`,
      `attachment; filename=${bare}-results.csv`,
    ]);
  });

  test('escapes formulas in the cells of the file and in the names of traders', async () => {
    await world.vies.script('DE136695976', [{ kind: 'valid', name: '=HYPERLINK("x")', address: ' @SUM(1)' }]);
    const id = await upload('vat_number,note\nDE136695976,+49 30 1\nDE1, =cmd\n');
    await completed(id);
    const cells = (await csv(id)).toString().split(/\r\n|,(?=(?:[^"]*"[^"]*")*[^"]*$)/);
    expect(cells).toEqual(expect.arrayContaining(["'+49 30 1", `"'=HYPERLINK(""x"")"`, "'@SUM(1)", "' =cmd"]));
    for (const cell of cells) expect(cell.replace(/^"/, '')).not.toMatch(/^\s*[=+\-@\t\r\n]/);
  });

  test.each(['delimiter=|', 'delimiter=', 'bom=yes', 'bom=1', 'limit=3'])('refuses ?%s', async (query) => {
    const id = await upload(SHORT);
    const { status, body } = await get(`/${id}/results.csv?${query}`);
    expect([status, body.error.code]).toEqual([400, 'BAD_REQUEST']);
  });

  test('of 10 000 lines is complete and in the order of the file', async () => {
    const id = await upload(`vat_number,n\n${Array.from({ length: 10_000 }, (_, n) => `DE1,${n}`).join('\n')}\n`);
    await completed(id);
    const rows = (await csv(id)).toString().trimEnd().split('\r\n').slice(1);
    expect(rows.map((row) => row.split(',')[1])).toEqual(Array.from({ length: 10_000 }, (_, n) => String(n)));
    expect(rows.every((row) => row.includes(',false,malformed,'))).toBe(true);
    const head = await world.http(account.live_key).method('head', `/v1/batches/${id}/results.csv`);
    expect([head.status, head.text]).toEqual([200, undefined]);
  });
});

describe('results.xlsx', () => {
  const fixture = (name: string) =>
    readFile(new URL(`../../../packages/spreadsheet/fixtures/${name}`, import.meta.url));

  test('contains the rows of an uploaded workbook and the results, and can be uploaded again', async () => {
    await world.vies.script('IT00743110157', [{ kind: 'valid', name: '=HYPERLINK("x")', address: 'Via 1' }]);
    // The content decides, not the declared type.
    const id = await upload(await fixture('openpyxl.xlsx'), { fileName: 'Lieferanten.xlsx' });
    const named = await world
      .http(account.live_key)
      .post('/v1/batches?sheet=old')
      .attach('file', await fixture('xlsxwriter.xlsx'), { filename: 'a.csv', contentType: 'text/plain' });
    expect([named.status, named.body.total, named.body.file_name]).toEqual([201, 1, 'a.csv']);
    await completed(id);
    const { data } = (await get(`/${id}/lines`)).body;
    expect(data.map(({ line, vat_number }: { line: number; vat_number: string }) => [line, vat_number])).toEqual([
      [4, 'SE123456789012'],
      [5, 'DE136695976'],
      [6, 'IT00743110157'],
      [8, 'IT00743110157'],
    ]);
    const answer = await download(`/${id}/results.xlsx`);
    expect([answer.status, answer.headers['content-type'], answer.headers['content-disposition']]).toEqual([
      200,
      XLSX_TYPE,
      'attachment; filename=Lieferanten-results.xlsx',
    ]);
    const { header, rows } = readBatchFile(answer.body);
    expect(header?.slice(-9)).toEqual([
      'Kto',
      ...((await csv(id)).toString().split('\r\n')[0]?.split(',') ?? []).slice(-8),
    ]);
    expect(rows[2]?.cells.slice(0, 13)).toEqual([
      ...['00743110157', 'IT', '2024-02-29', '', '-3', '', 'plain bold end', ''],
      ...['IT00743110157', 'TRUE', 'valid', '=HYPERLINK("x")', 'Via 1'],
    ]);
    const again = await upload(answer.body, { type: XLSX_TYPE });
    await completed(again);
    const lines = (await get(`/${again}/lines`)).body.data;
    expect(lines.map((line: { vat_number: string }) => line.vat_number)).toEqual(
      data.map((line: { vat_number: string }) => line.vat_number),
    );
    const head = await world.http(account.live_key).method('head', `/v1/batches/${id}/results.xlsx`);
    expect([head.status, head.headers['content-type'], head.text]).toEqual([200, XLSX_TYPE, undefined]);
  });

  test('a workbook that cannot be read is refused with the row and what to do', async () => {
    const refusal = async (name: string, query = '') => {
      const { status, body } = await uploadBatch(world, await fixture(name), {
        key: account.live_key,
        type: XLSX_TYPE,
        query,
      });
      return [status, (body as unknown as { error: unknown }).error];
    };
    expect(await refusal('openpyxl-formula.xlsx')).toEqual([
      400,
      { code: 'INVALID_FILE', line: 3, message: expect.stringContaining('formula without a stored result') },
    ]);
    expect(await refusal('openpyxl.xlsx', '?sheet=Data')).toEqual([
      400,
      {
        code: 'INVALID_FILE',
        line: 1,
        message: 'The workbook has no sheet “Data”. Its sheets are “Notes”, “Suppliers”.',
      },
    ]);
  });

  test('of 10 000 lines is complete', async () => {
    const id = await upload(`vat_number,n\n${Array.from({ length: 10_000 }, (_, n) => `DE1,${n}`).join('\n')}\n`);
    const { rows } = readBatchFile((await download(`/${id}/results.xlsx`)).body);
    expect(rows.map(({ cells }) => cells[1])).toEqual(Array.from({ length: 10_000 }, (_, n) => String(n)));
  });
});
