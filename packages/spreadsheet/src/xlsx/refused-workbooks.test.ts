import { readFile } from 'node:fs/promises';
import { raw, utf8 } from '../encode.fixture.js';
import { readBatchFile } from '../read-batch-file.js';
import { readCoverageFile } from '../read-coverage-file.js';
import { refuse } from '../refuse.fixture.js';
import { makeWorkbook, rowsOf, workbookOf } from './workbook.fixture.js';

const NUMBER = 'DE136695976';
const GOOD = workbookOf(rowsOf(['vat_number', 'note'], [NUMBER, 'x'.repeat(5_000)]));
const MIB = 1024 * 1024;

/** A copy with one byte changed. */
const changed = (bytes: Uint8Array, at: number): Uint8Array => bytes.with(at, (bytes[at] ?? 0) ^ 0x10);

/** The position of a text in a file; the last one is in the directory of the archive. */
const positionOf = (bytes: Uint8Array, text: string, which: 'first' | 'last'): number => {
  const all = Buffer.from(bytes);
  return which === 'first' ? all.indexOf(text, 0, 'latin1') : all.lastIndexOf(text, undefined, 'latin1');
};

/** A copy whose directory states another unpacked size for the sheet. */
const withStatedSize = (bytes: Uint8Array, size: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  new DataView(copy.buffer).setUint32(positionOf(bytes, 'xl/worksheets/sheet0.xml', 'last') - 46 + 24, size, true);
  return copy;
};

const withPart = (sheet: string): Uint8Array => workbookOf('', { parts: { 'xl/worksheets/sheet0.xml': sheet } });

describe('INVALID_FILE says what to do with', () => {
  test.each<[what: string, bytes: () => Uint8Array, says: RegExp]>([
    ['half of a workbook', () => GOOD.subarray(0, GOOD.length / 2), /damaged.*save it again/],
    [
      'a workbook with a wrong byte in its sheet',
      () => changed(GOOD, positionOf(GOOD, 'sheet0.xml', 'first') + 30),
      /damaged/,
    ],
    ['a part that is larger than it states', () => withStatedSize(GOOD, 100), /damaged.*checksum/],
    ['a part that is smaller than it states', () => withStatedSize(GOOD, 100_000), /damaged.*checksum/],
    ['a workbook that states more than 50 MiB', () => withStatedSize(GOOD, 51 * MIB), /50 MiB unpacked.*Remove/],
    [
      'a bomb: a part that states 100 bytes and unpacks to 4 MiB',
      () => withStatedSize(withPart(' '.repeat(4 * MIB)), 100),
      /damaged.*checksum/,
    ],
    ['an encrypted part', () => changed16(GOOD), /password/],
    [
      'a workbook with a password',
      () => raw(0xd0, 0xcf, 0x11, 0xe0, ...'x'.repeat(600), [...'EncryptedPackage'].join('\0')),
      /protected with a password.*remove it under File/,
    ],
    [
      'an old workbook',
      () => raw(0xd0, 0xcf, 0x11, 0xe0, ...'W\0o\0r\0k\0b\0o\0o\0k\0'),
      /\.xls\).*save it as.*\.xlsx/,
    ],
    ['a binary workbook', () => workbookOf('', { parts: { 'xl/workbook.bin': '' } }), /\.xlsb\).*save it as.*\.xlsx/],
    ['a document', () => workbookOf('', { parts: { 'word/document.xml': '' } }), /a Word document/],
    ['a workbook without sheets', () => workbookOf('', { parts: { 'xl/workbook.xml': '<workbook><a>' } }), /damaged/],
    ['an entity', () => withPart('<!DOCTYPE a [<!ENTITY b "xx">]><worksheet>&b;</worksheet>'), /damaged/],
    ['an external entity', () => withPart('<!DOCTYPE a SYSTEM "file:///etc/passwd"><worksheet/>'), /document type/],
    ['an unknown entity', () => withPart('<worksheet>&b;</worksheet>'), /damaged/],
    ['XML that ends early', () => withPart('<worksheet><sheetData>'), /not well-formed/],
    ['XML that is nested deeply', () => withPart('<a>'.repeat(100_000)), /nested too deeply/],
    [
      'an element with many attributes',
      () => withPart(`<a ${Array.from({ length: 300 }, (_, n) => `b${n}=""`).join(' ')}/>`),
      /attributes/,
    ],
    ['an attribute that does not end', () => withPart(`<a b="${'x'.repeat(MIB)}`), /not well-formed/],
    [
      'bytes that are not UTF-8',
      () => workbookOf('', { parts: { 'xl/worksheets/sheet0.xml': raw('<a>', 0xff, '</a>') } }),
      /broken characters/,
    ],
    [
      'a reference to a text that does not exist',
      () => workbookOf('<row><c t="s"><v>7</v></c></row>'),
      /does not exist/,
    ],
    ['rows out of order', () => workbookOf('<row r="5"/><row r="4"/>'), /rows are not in order/],
    ['cells out of order', () => workbookOf('<row><c r="C1"/><c r="B1"/></row>'), /cells are not in order/],
    [
      'a row of more cells than there are columns',
      () => workbookOf(`<row>${'<c/>'.repeat(16_385)}</row>`),
      /more cells than/,
    ],
    ['a million empty cells', () => workbookOf(`<row>${'<c/>'.repeat(200)}</row>`.repeat(5_001)), /1 000 000 cells/],
    [
      'sheets that are the same part',
      () =>
        makeWorkbook({
          sheets: [
            { name: 'a', rows: '' },
            { name: 'b', rows: '' },
          ],
          parts: {
            'xl/_rels/workbook.xml.rels':
              '<r><Relationship Id="s0" Type="/worksheet" Target="a.xml"/><Relationship Id="s1" Type="/worksheet" Target="A.xml"/></r>',
            'xl/a.xml': '<worksheet/>',
          },
        }),
      /two sheets are the same part/,
    ],
    ['half a million texts', () => workbookOf('', { strings: '<si/>'.repeat(500_001) }), /500 000 different texts/],
  ])('%s', (_what, bytes, says) => {
    expect(refuse(() => readBatchFile(bytes()))).toEqual({
      code: 'INVALID_FILE',
      line: expect.any(Number),
      message: expect.stringMatching(says),
    });
  });

  /** A copy whose directory says that the sheet is encrypted. */
  const changed16 = (bytes: Uint8Array): Uint8Array => {
    const at = positionOf(bytes, 'xl/worksheets/sheet0.xml', 'last') - 46 + 8;
    return bytes.with(at, (bytes[at] ?? 0) | 1);
  };

  test('an unknown sheet: the names that there are', () => {
    const sheets = Array.from({ length: 30 }, (_, n) => ({ name: `Sheet ${n + 1}`, rows: '' }));
    const { code, message } = refuse(() => readBatchFile(makeWorkbook({ sheets }), { sheet: 'Data' }));
    expect(code).toBe('INVALID_FILE');
    expect(message).toMatch(/^The workbook has no sheet “Data”. Its sheets are “Sheet 1”, .*“Sheet 20” and 10 more\.$/);
  });

  test('a sheet of a CSV file', () => {
    expect(refuse(() => readBatchFile(utf8('vat_number\nDE1\n'), { sheet: 'Data' }))).toMatchObject({
      code: 'INVALID_FILE',
      message: expect.stringContaining('Leave out `sheet`'),
    });
  });

  test('a formula without a stored result: its row', async () => {
    const bytes = await readFile(new URL('../../fixtures/openpyxl-formula.xlsx', import.meta.url));
    expect(refuse(() => readBatchFile(new Uint8Array(bytes)))).toMatchObject({
      code: 'INVALID_FILE',
      line: 3,
      message: expect.stringMatching(/^Row 3 has a formula without a stored result.*save it/),
    });
  });

  test('two columns with the same meaning: the row of the header', () => {
    const bytes = workbookOf(`<row r="4">${rowsOf(['vat_number', 'VAT number']).slice(5)}${rowsOf([NUMBER])}`);
    expect(refuse(() => readBatchFile(bytes))).toMatchObject({ code: 'INVALID_FILE', line: 4 });
    const dates = workbookOf(rowsOf(['vat_number', 'Date', 'Datum'], [NUMBER, '2026-10-14', '2026-10-14']));
    expect(refuse(() => readCoverageFile(dates))).toMatchObject({ code: 'INVALID_FILE', line: 1 });
  });

  test('a row with more than 1 000 columns: the row', () => {
    const bytes = workbookOf(`<row r="9"><c r="A9" t="str"><v>${NUMBER}</v></c><c r="ALM9"><v>1</v></c></row>`);
    expect(refuse(() => readBatchFile(bytes))).toMatchObject({ code: 'INVALID_FILE', line: 9 });
  });
});

describe('a sheet without numbers is named, with those that may have them:', () => {
  const numbers = { name: 'Data', rows: rowsOf(['vat_number'], [NUMBER]) };

  test.each([
    [
      'a cover',
      rowsOf(['Instructions'], ['One row for each supplier']),
      'MISSING_CANDIDATE',
      'has no column that can be the VAT number',
    ],
    ['a header alone', rowsOf(['vat_number']), 'EMPTY_FILE', 'has no data row'],
  ])('%s', (_what, rows, code, why) => {
    const bytes = makeWorkbook({ sheets: [{ name: 'Cover', rows }, numbers, { name: 'Notes', rows: '' }] });
    const message = `The sheet “Cover” ${why}. If the numbers are in another sheet, choose it: “Data”, “Notes”.`;
    expect(refuse(() => readBatchFile(bytes))).toEqual({ code, line: undefined, message });
    expect(refuse(() => readCoverageFile(bytes))).toEqual({ code, line: undefined, message });
    expect(readBatchFile(bytes, { sheet: 'Data' }).rows).toHaveLength(1);
  });
});

describe('a workbook has the limits of a CSV file:', () => {
  const rows = (count: number) => rowsOf(...Array.from({ length: count }, () => [NUMBER]));

  test('10 000 rows, however many empty ones are between them', () => {
    expect(readBatchFile(workbookOf(`${rows(10_000)}${'<row/>'.repeat(100_000)}`)).rows).toHaveLength(10_000);
    expect(refuse(() => readBatchFile(workbookOf(rows(10_001))))).toMatchObject({ code: 'TOO_MANY_ROWS' });
  });

  test('2 MiB of text, however often a cell refers to the same one, and with the empty cells between', () => {
    const long = workbookOf(`<row><c t="str"><v>${NUMBER}</v></c>${'<c t="s"><v>0</v></c>'.repeat(3)}</row>`, {
      strings: `<si><t>${'x'.repeat(MIB - 100)}</t></si>`,
    });
    expect(refuse(() => readBatchFile(long))).toMatchObject({ code: 'FILE_TOO_LARGE' });
    const wide = workbookOf(
      Array.from({ length: 2_200 }, (_, n) => `<row><c r="ALL${n + 1}"><v>1</v></c></row>`).join(''),
    );
    expect(refuse(() => readBatchFile(wide))).toMatchObject({ code: 'FILE_TOO_LARGE' });
    const one = workbookOf(`<row><c t="str"><v>${'x'.repeat(5 * MIB)}</v></c></row>`);
    expect(refuse(() => readBatchFile(one))).toMatchObject({ code: 'FILE_TOO_LARGE' });
  });

  test('thousands of empty sheets are read, and none is data', () => {
    const sheets = Array.from({ length: 2_000 }, (_, n) => ({ name: `s${n}`, rows: '' }));
    expect(refuse(() => readBatchFile(makeWorkbook({ sheets })))).toMatchObject({ code: 'EMPTY_FILE' });
  });
});
