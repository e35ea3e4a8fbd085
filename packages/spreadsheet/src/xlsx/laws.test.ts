import { AppError } from '@vat/domain/errors';
import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { readBatchFile } from '../read-batch-file.js';
import { RESULT_COLUMNS } from '../results-file.js';
import { resultsWorkbook } from './results-workbook.js';
import { rowsOf, workbookOf } from './workbook.fixture.js';

type Row = Parameters<ReturnType<typeof resultsWorkbook<(typeof RESULT_COLUMNS)[number]>>['row']>;

/** A whole results.xlsx. */
const write = (width: number, rows: readonly Row[]): Uint8Array => {
  const file = resultsWorkbook({ columns: RESULT_COLUMNS, header: null, width, rows: rows.length });
  const pieces = [file.pack(file.header(), false), ...rows.map((row) => file.pack(file.row(...row), false))];
  return Buffer.concat([...pieces, file.pack('', true)].map((piece) => Buffer.from(piece)));
};

const piece = fc.constantFrom(
  '=1+1',
  '+',
  '-5',
  '@x',
  "'",
  '_x0041_',
  '_x005F_',
  '_',
  '<',
  '&amp;',
  ']]>',
  '\r\n',
  '\t',
  '0012',
  '1E5',
  ' ',
  '😀',
  '\ufffe',
);
const cell = fc
  .oneof(
    anyText(),
    fc.array(piece, { maxLength: 4 }).map((parts) => parts.join('')),
  )
  // A control character is removed when it is read.
  .map((text) => text.replace(/(?![\t\r\n])\p{Cc}/gu, '').toWellFormed());
const rows = fc.array(fc.array(cell, { maxLength: 5 }), { minLength: 1, maxLength: 5 });

const NOTHING = {
  vat_number: null,
  valid: null,
  verdict: null,
  name: null,
  address: null,
  consultation_number: null,
  check_id: null,
  error: null,
};

test('the cells of results.xlsx are those of the uploaded file and of the results', () => {
  fc.assert(
    fc.property(rows, cell, fc.boolean(), (originals, name, valid) => {
      const width = Math.max(1, ...originals.map(({ length }) => length));
      const result = { ...NOTHING, vat_number: 'DE136695976', valid, name };
      const read = readBatchFile(
        write(
          width,
          originals.map((cells) => [cells, result]),
        ),
      );
      expect(read.header?.slice(width)).toEqual(RESULT_COLUMNS);
      expect(read.rows.map(({ line }) => line)).toEqual(originals.map((_, n) => n + 2));
      for (const [n, cells] of originals.entries()) {
        const added = ['DE136695976', String(valid).toUpperCase(), '', name];
        const padded = [...Array.from({ length: width }, (_, column) => cells[column] ?? ''), ...added];
        if (name === '') padded.splice(-2);
        expect(read.rows[n]?.cells).toEqual(padded);
      }
    }),
    { numRuns: 100 },
  );
});

test('a workbook of any texts is read as it is, and a changed one is read or refused with a code', () => {
  const escapeText = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
  const plain = cell.map((text) => text.replace(/[\ufffe\uffff\r]|_x/g, ''));
  fc.assert(
    fc.property(plain, fc.nat(), fc.nat(255), (text, position, byte) => {
      const bytes = workbookOf(rowsOf(['vat_number', 'note'], ['DE136695976', escapeText(text)]));
      expect(readBatchFile(bytes).rows[0]?.cells.slice(1)).toEqual(text === '' ? [] : [text]);
      bytes[position % bytes.length] = byte;
      try {
        readBatchFile(bytes);
      } catch (error) {
        expect(error).toBeInstanceOf(AppError);
      }
    }),
    { numRuns: 200 },
  );
});
