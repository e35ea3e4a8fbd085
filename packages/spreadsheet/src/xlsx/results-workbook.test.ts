import { strFromU8, unzipSync } from 'fflate';
import { readBatchFile } from '../read-batch-file.js';
import { COVERAGE_COLUMNS, RESULT_COLUMNS } from '../results-file.js';
import { resultsWorkbook } from './results-workbook.js';

const RESULT = {
  vat_number: 'DE136695976',
  valid: true,
  verdict: 'valid',
  name: '=HYPERLINK("https://example.com")',
  address: 'Müllerstraße 1\n10115 Berlin',
  consultation_number: null,
  check_id: 'chk_1',
  error: null,
};

const concat = (...parts: (string | Uint8Array)[]): Uint8Array => Buffer.concat(parts.map((part) => Buffer.from(part)));

const sheetOf = (bytes: Uint8Array): string => strFromU8(unzipSync(bytes)['xl/worksheets/sheet1.xml'] as Uint8Array);

test('texts are texts, verdicts are coloured, the header stays in view and has filters', () => {
  const file = resultsWorkbook({ columns: RESULT_COLUMNS, header: ['USt-IdNr'], width: 2, rows: 2 });
  const bytes = concat(
    file.pack(file.header(), false),
    file.pack(file.row(['DE136695976', '+49 30'], RESULT), false),
    file.pack(file.row(['0012'], { ...RESULT, valid: false, verdict: 'invalid' }), true),
  );
  const sheet = sheetOf(bytes);
  expect(sheet).not.toContain('<f>');
  expect(sheet).toContain('<c r="B2" s="1" t="inlineStr"><is><t xml:space="preserve">+49 30</t></is></c>');
  expect(sheet).toContain('<c r="D2" s="3" t="b"><v>1</v></c><c r="E2" s="3" t="inlineStr">');
  expect(sheet).toContain('<c r="D3" s="4" t="b"><v>0</v></c><c r="E3" s="4" t="inlineStr">');
  expect(sheet).toContain('ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"');
  expect(sheet).toContain('<autoFilter ref="A1:J3"/>');
  const { header, rows } = readBatchFile(bytes);
  expect(header).toEqual(['USt-IdNr', 'column_2', ...RESULT_COLUMNS]);
  expect(rows.map(({ cells }) => cells.slice(0, 6))).toEqual([
    ['DE136695976', '+49 30', 'DE136695976', 'TRUE', 'valid', '=HYPERLINK("https://example.com")'],
    ['0012', '', 'DE136695976', 'FALSE', 'invalid', '=HYPERLINK("https://example.com")'],
  ]);
});

test('a text has at most the characters that Excel allows', () => {
  const file = resultsWorkbook({ columns: COVERAGE_COLUMNS, header: ['n'], width: 1, rows: 1 });
  const nothing = Object.fromEntries(COVERAGE_COLUMNS.map((name) => [name, null])) as Record<
    (typeof COVERAGE_COLUMNS)[number],
    null
  >;
  const row = file.row([`${'x'.repeat(32_765)}😀😀`], { ...nothing, age_days: 12 });
  const [, text = ''] = /<t [^>]*>([^<]*)</.exec(row) ?? [];
  expect(text).toHaveLength(32_767);
  expect(text.isWellFormed()).toBe(true);
  expect(text.endsWith('…')).toBe(true);
  expect(row).toContain('<v>12</v>');
});

test('what is written is sent: 5 000 rows need no more memory than their chunks', () => {
  const rows = 5_000;
  const file = resultsWorkbook({ columns: RESULT_COLUMNS, header: ['n'], width: 1, rows });
  let text = file.header();
  let sent = 0;
  let largest = 0;
  const send = (isLast: boolean) => {
    const packed = Buffer.from(file.pack(text, isLast));
    sent += packed.length;
    largest = Math.max(largest, packed.length);
    text = '';
  };
  for (let n = 0; n < rows; n += 1) {
    text += file.row([String(n)], RESULT);
    if (text.length >= 65_536) send(false);
  }
  send(true);
  expect(sent).toBeGreaterThan(60_000);
  expect(largest).toBeLessThan(200_000);
});
