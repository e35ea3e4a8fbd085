import { readFile } from 'node:fs/promises';
import { readBatchFile } from '../read-batch-file.js';
import { readCoverageFile } from '../read-coverage-file.js';
import { makeWorkbook, rowsOf, workbookOf } from './workbook.fixture.js';

const fixture = async (name: string): Promise<Uint8Array> =>
  new Uint8Array(await readFile(new URL(`../../fixtures/${name}`, import.meta.url)));

/** The rows of a workbook as `line: cell | cell`. */
const rowsIn = (bytes: Uint8Array, sheet?: string): string[] =>
  readBatchFile(bytes, { sheet }).rows.map(({ line, cells }) => `${line}: ${cells.join(' | ')}`);

const NUMBER = 'DE136695976';

describe('a workbook made by', () => {
  test.each(['openpyxl.xlsx', 'libreoffice.xlsx'])(
    'openpyxl, in %s: the first sheet with data, below its title',
    async (name) => {
      const bytes = await fixture(name);
      const { source, preamble, header, rows, repairs } = readBatchFile(bytes);
      expect(source).toEqual({ format: 'xlsx', sheet: 'Suppliers', sheets: ['Notes', 'Suppliers'] });
      expect(preamble).toBe(1);
      expect(header).toEqual([
        'USt-IdNr',
        'Land',
        'Liefer-/Leistungsdatum',
        'Referenz',
        'Betrag',
        'Aktiv',
        'Notiz',
        'Kto',
      ]);
      expect(rowsIn(bytes)).toEqual([
        '4: 123456789012 | Schweden | 2026-10-14 | R-1 | 1234.5 | TRUE | =1+1 is text | x',
        '5: 136695976 | DE | 2026-10-20 08:30:00 | 0012 | 0.3 | FALSE | #N/A | y',
        '6: 00743110157 | IT | 2024-02-29 |  | -3 |  | plain bold end',
        '8: 00743110157 | IT | 2026-11-02 | Zeile 1\nZeile 2 | 12:30:00 |  | 1.25',
      ]);
      expect(rows.map(({ candidate, country, reference }) => [candidate, country, reference])[0]).toEqual([
        '123456789012',
        'SE',
        'R-1',
      ]);
      expect(repairs.map(({ kind, line }) => [kind, line])).toEqual([['country_name_read', 4]]);
      expect(readCoverageFile(bytes).rows.map(({ supplyDate }) => supplyDate)).toEqual([
        '2026-10-14',
        '2026-10-20 08:30:00',
        '2024-02-29',
        '2026-11-02',
      ]);
    },
  );

  test.each(['xlsxwriter.xlsx', 'xlsxwriter-inline-strings.xlsx', 'xlsxwriter-1904.xlsx'])(
    'XlsxWriter, in %s: formulas by their results, dates of both systems',
    async (name) => {
      const bytes = await fixture(name);
      expect(rowsIn(bytes)).toEqual([
        '2: FR83404833048 | 2026-10-14 | 0007 | =cmd() | 1e+21',
        `3: ${NUMBER} | 1904-02-28 | TRUE | #DIV/0! | 6`,
        '5: ATU33803803 | 2026-03-31 |  | Müller & Söhne <GmbH> | -0.000001 | tab\tline\nend  _x0041_',
      ]);
      expect(rowsIn(bytes, 'old')).toEqual(['2: IT00743110157']);
    },
  );

  test.each(['openpyxl-1904.xlsx', 'openpyxl-iso-dates.xlsx'])('openpyxl, in %s: dates', async (name) => {
    expect(rowsIn(await fixture(name))).toEqual([
      `2: ${NUMBER} | 2026-10-14`,
      '3: FR83404833048 | 2026-10-20 23:59:00',
    ]);
  });
});

test('an archive whose end is in zip64 is read, as programs write it that do not know its size beforehand', () => {
  const bytes = workbookOf(rowsOf(['vat_number'], [NUMBER]));
  const at = bytes.length - 22;
  const end = new DataView(bytes.buffer, bytes.byteOffset + at);
  const zip64 = new DataView(new ArrayBuffer(76));
  zip64.setUint32(0, 0x06064b50, true);
  zip64.setBigUint64(4, 44n, true);
  zip64.setBigUint64(24, BigInt(end.getUint16(8, true)), true);
  zip64.setBigUint64(32, BigInt(end.getUint16(10, true)), true);
  zip64.setBigUint64(40, BigInt(end.getUint32(12, true)), true);
  zip64.setBigUint64(48, BigInt(end.getUint32(16, true)), true);
  zip64.setUint32(56, 0x07064b50, true);
  zip64.setBigUint64(64, BigInt(at), true);
  zip64.setUint32(72, 1, true);
  const inZip64 = Buffer.concat([bytes.subarray(0, at), new Uint8Array(zip64.buffer), bytes.subarray(at)]);
  inZip64.fill(0xff, inZip64.length - 14, inZip64.length - 2);
  expect(rowsIn(inZip64)).toEqual([`2: ${NUMBER}`]);
});

describe('a sheet is', () => {
  const sheets = [
    { name: 'Secret', rows: rowsOf(['vat_number'], ['FR83404833048']), state: 'hidden' },
    { name: 'Empty', rows: rowsOf([' ', '']) },
    { name: 'Übersicht 2026', rows: rowsOf(['vat_number'], [NUMBER]) },
  ];

  test('the first one with data, before hidden ones', () => {
    expect(rowsIn(makeWorkbook({ sheets }))).toEqual([`2: ${NUMBER}`]);
    expect(readBatchFile(makeWorkbook({ sheets: sheets.slice(0, 2) })).source).toMatchObject({ sheet: 'Secret' });
  });

  test('the one that is named, in upper or lower case', () => {
    expect(rowsIn(makeWorkbook({ sheets }), 'secret')).toEqual(['2: FR83404833048']);
    expect(rowsIn(makeWorkbook({ sheets }), 'U\u0308BERSICHT 2026 ')).toEqual([`2: ${NUMBER}`]);
  });

  test('found by its relationship, absolutely or relatively, with or without namespace prefixes', () => {
    const bytes = workbookOf('', {
      parts: {
        'xl/_rels/workbook.xml.rels':
          '<p:Relationships xmlns:p="x"><p:Relationship Id="s0" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/worksheet" Target="../data/One%20sheet.xml"/></p:Relationships>',
        'data/One sheet.xml': `<x:worksheet xmlns:x="y"><x:sheetData><x:row r="7"><x:c r="C7" t="str"><x:v>${NUMBER}</x:v></x:c></x:row></x:sheetData></x:worksheet>`,
      },
    });
    expect(rowsIn(bytes)).toEqual([`7:  |  | ${NUMBER}`]);
  });
});

describe('a cell is read as its reader sees it:', () => {
  const styles =
    '<numFmts><numFmt numFmtId="164" formatCode="[$-407]d/\\ mmmm\\ yyyy;@"/><numFmt numFmtId="165" formatCode="#,##0.00\\ &quot;Stück/day&quot;"/><numFmt numFmtId="166" formatCode="yyyy/mm/dd\\ hh:mm"/><numFmt numFmtId="167" formatCode="00000_);[Red]\\-00000"/><numFmt numFmtId="168" formatCode="000\\-000\\-00\\-00"/><numFmt numFmtId="169" formatCode="&quot;DE&quot;000000000"/><numFmt numFmtId="170" formatCode="[Red]\\N\\L000000000&quot;B01&quot;"/><numFmt numFmtId="171" formatCode="&quot;RO&quot;\\ 0"/><numFmt numFmtId="172" formatCode="&quot;SEK &quot;0"/><numFmt numFmtId="173" formatCode="000-000-00-00"/><numFmt numFmtId="174" formatCode="&quot;NL&quot;000000000&quot;B&quot;00"/><numFmt numFmtId="175" formatCode="000000000&quot;B01&quot;"/><numFmt numFmtId="176" formatCode="&quot;DE&quot;General"/><numFmt numFmtId="177" formatCode="000&quot;KG&quot;"/><numFmt numFmtId="178" formatCode="&quot;BE&quot;0###\\.###\\.###"/><numFmt numFmtId="179" formatCode="0#&quot; &quot;##"/></numFmts><cellStyleXfs><xf numFmtId="14"/></cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="21"/><xf numFmtId="167"/><xf numFmtId="168"/><xf numFmtId="169"/><xf numFmtId="170"/><xf numFmtId="171"/><xf numFmtId="172"/><xf numFmtId="173"/><xf numFmtId="174"/><xf numFmtId="175"/><xf numFmtId="176"/><xf numFmtId="177"/><xf numFmtId="178"/><xf numFmtId="179"/></cellXfs>';
  const strings =
    '<si><t>one</t></si><si><r><t>tw</t></r><r><rPr/><t>o</t></r><rPh sb="0" eb="1"><t>guide</t></rPh></si>';

  test.each([
    ['a long number', '<c><v>123456789012</v></c>', '123456789012'],
    ['a number in scientific notation', '<c><v>1.23456789012E+11</v></c>', '123456789012'],
    ['a number with the decimal of a program', '<c><v>136695976.0</v></c>', '136695976'],
    [
      'a whole number of more digits than a binary fraction has',
      '<c><v>12345678901234567</v></c>',
      '12345678901234567',
    ],
    ['the same below zero', '<c><v>-12345678901234567</v></c>', '-12345678901234567'],
    ['a number with the error of binary fractions', '<c><v>0.30000000000000004</v></c>', '0.3'],
    ['a date', '<c s="1"><v>46309</v></c>', '2026-10-14'],
    ['a date in words', '<c s="2"><v>46309.75</v></c>', '2026-10-14'],
    ['a date with a time', '<c s="4"><v>46309.35416666667</v></c>', '2026-10-14 08:30:00'],
    ['the last moment of a day', '<c s="4"><v>46309.99999997</v></c>', '2026-10-14 23:59:59'],
    ['the same in the format of a date', '<c s="1"><v>46309.99999997</v></c>', '2026-10-14'],
    ['a time', '<c s="5"><v>0.5</v></c>', '12:00:00'],
    ['the day before the one that 1900 did not have', '<c s="1"><v>59</v></c>', '1900-02-28'],
    ['the day after it', '<c s="1"><v>61</v></c>', '1900-03-01'],
    ['a VAT number in a cell with the format of a date', '<c s="1"><v>136695976</v></c>', '136695976'],
    ['a number with a unit', '<c s="3"><v>12.5</v></c>', '12.5'],
    ['leading zeros in a format of accountants', '<c s="6"><v>42</v></c>', '00042'],
    ['leading zeros without their dashes', '<c s="7"><v>12345678</v></c>', '0012345678'],
    ['the same with dashes that are not escaped', '<c s="12"><v>12345678</v></c>', '0012345678'],
    ['the prefix that a format shows', '<c s="8"><v>36695976</v></c>', 'DE036695976'],
    ['what a format shows around a number', '<c s="9"><v>4495445</v></c>', 'NL004495445B01'],
    ['what a format shows between digits', '<c s="13"><v>449544501</v></c>', 'NL004495445B01'],
    ['the end of a number without its prefix', '<c s="14"><v>4495445</v></c>', '004495445B01'],
    ['a prefix before a number without a format', '<c s="15"><v>136695976</v></c>', 'DE136695976'],
    ['leading zeros without their unit', '<c s="16"><v>42</v></c>', '042'],
    ['the zero before optional digits, with its prefix', '<c s="17"><v>403019261</v></c>', 'BE0403019261'],
    ['the zeros of digits that are optional elsewhere', '<c s="18"><v>12</v></c>', '0012'],
    ['a prefix without leading zeros', '<c s="10"><v>18189442</v></c>', 'RO 18189442'],
    ['a whole number with its currency', '<c s="11"><v>100</v></c>', '100'],
    ['a shared text', '<c t="s"><v>0</v></c>', 'one'],
    ['a text of several fonts without its guide', '<c t="s"><v>1</v></c>', 'two'],
    [
      'an inline text with escapes',
      '<c t="inlineStr"><is><t>a_x000D_b_x005F_x0041_&amp;&#228;</t></is></c>',
      'a\rb_x0041_&ä',
    ],
    ['the text of a formula', '<c t="str"><f>A1</f><v>x</v></c>', 'x'],
    ['an empty text of a formula', '<c t="str"><f>A1</f><v></v></c>', ''],
    ['a truth value', '<c t="b"><v>1</v></c>', 'TRUE'],
    ['an error', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>', '#DIV/0!'],
    ['an ISO date', '<c t="d"><v>2026-10-14T00:00:00</v></c>', '2026-10-14'],
    ['CDATA', '<c t="str"><v><![CDATA[<a>]]></v></c>', '<a>'],
  ])('%s', (_what, cell, text) => {
    const bytes = workbookOf(`<row>${`<c t="str"><v>${NUMBER}</v></c>`}${cell}<c t="str"><v>end</v></c></row>`, {
      strings,
      styles,
    });
    expect(rowsIn(bytes)).toEqual([`1: ${NUMBER} | ${text} | end`]);
  });

  test('where its reference says', () => {
    const cell = (at: string, text: string) => `<c r="${at}" t="str"><v>${text}</v></c>`;
    const rows = `<row r="3">${cell('B3', NUMBER)}${cell('AB3', 'far')}</row><row r="1000000"><c/>${cell('C1000000', 'x')}</row>`;
    expect(rowsIn(workbookOf(rows))).toEqual([`3:  | ${NUMBER}${' | '.repeat(26)}far`, '1000000:  |  | x']);
  });

  test('in UTF-16 too', () => {
    const text = `\uFEFF<?xml version="1.0" encoding="UTF-16"?><worksheet><sheetData>${rowsOf([NUMBER, 'Ö€'])}</sheetData></worksheet>`;
    const part = Uint8Array.from(Buffer.from(text, 'utf16le'));
    expect(rowsIn(workbookOf('', { parts: { 'xl/worksheets/sheet0.xml': part } }))).toEqual([`1: ${NUMBER} | Ö€`]);
  });
});
