import { AppError } from '@vat/domain/errors';
import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { type CsvDelimiter, csvRow, defuseCell } from './cells.js';
import { utf8, utf16 } from './encode.fixture.js';
import { readBatchFile } from './read-batch-file.js';
import { RESULT_COLUMNS, resultsFile } from './results-file.js';
import { scanRows } from './scan-rows.js';

const delimiter = fc.constantFrom<CsvDelimiter[]>(',', ';', '\t');
const piece = fc.constantFrom(
  ...[
    '"',
    '""',
    ',',
    ';',
    '\t',
    '\n',
    '\r',
    '\r\n',
    '=',
    '+',
    '-',
    '@',
    "'",
    ' ',
    '\u00A0',
    '\u200B',
    '\uFEFF',
    '\u3000',
  ],
  ...['＝', '＋', '－', '＠', '\u2212', '⩵', '\u{E0020}', '﹢', 'sep=', 'ID', 'DE136695976', 'ü', '😀', '1.0'],
);
const cell = fc.oneof(
  anyText(),
  fc.array(fc.oneof(piece, fc.string()), { maxLength: 6 }).map((parts) => parts.join('')),
);
const cells = fc.array(cell, { minLength: 1, maxLength: 6 });
/** Text only: CSV in UTF-8 contains neither half characters nor NUL. */
const textCell = cell.map((text) => text.replace(/\0|\p{Cs}/gu, ''));

const BLANK = /[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;
/** Implemented differently from `defuseCell`, so that both do not have the same error. */
const runs = (text: string): boolean => {
  const seen = [...text].find((character) => !BLANK.test(character));
  return /^[\t\r\n]/.test(text) || (seen !== undefined && '=+-@\u2212'.includes(seen.normalize('NFKC').charAt(0)));
};

/** The text that is read back from a written cell, in a row's last column or another. */
const readBack = (text: string, separator: CsvDelimiter, isLast: boolean): string => {
  const defused = defuseCell(text, separator);
  const endsOpen = [...',;\t\r\n'].some((end) => end !== separator && defused.endsWith(end));
  return endsOpen && isLast ? `${defused}'` : defused;
};

/**
 * Reads a file like a spreadsheet with these delimiters: quotes count only at the start of a cell, and the text after the
 * closing quote belongs to the cell.
 */
const openIn = (text: string, delimiters: string): string[] => {
  const found: string[] = [];
  let [value, isQuoted, isFresh] = ['', false, true];
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (isQuoted) {
      if (character !== '"') value += character;
      else if (text[at + 1] === '"') {
        value += '"';
        at += 1;
      } else isQuoted = false;
    } else if (isFresh && character === '"') [isQuoted, isFresh] = [true, false];
    else if (delimiters.includes(character) || character === '\r' || character === '\n') {
      found.push(value);
      [value, isFresh] = ['', true];
    } else [value, isFresh] = [value + character, false];
  }
  return [...found, value];
};

describe('csvRow', () => {
  test('writes rows that are read back unchanged, except cells that are formulas', () => {
    fc.assert(
      fc.property(fc.array(cells, { minLength: 1, maxLength: 5 }), delimiter, (rows, separator) => {
        const text = rows.map((row) => csvRow(row, separator)).join('');
        const read = [...scanRows(text, separator)].map((row) => row.cells);
        // A row of one empty cell is an empty line, which no reader returns.
        expect(read).toEqual(
          rows
            .map((row) => row.map((text, n) => readBack(text, separator, n === row.length - 1)))
            .filter((row) => row.join('') !== '' || row.length > 1),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  test('writes no cell that begins like a formula, whichever delimiter the spreadsheet uses', () => {
    const splits = fc.constantFrom(',', ';', '\t', ',;', ',\t', ';\t', ',;\t');
    fc.assert(
      fc.property(fc.array(cells, { minLength: 1, maxLength: 3 }), delimiter, splits, (rows, separator, delimiters) => {
        const text = rows.map((row) => csvRow(row, separator)).join('');
        // Tabs that are not a delimiter are unchanged, also between empty cells.
        const isTabbed = separator === '\t' && !delimiters.includes('\t');
        for (const opened of openIn(text, delimiters)) {
          const seen = isTabbed ? opened.replace(/^\t[\t\r\n]*/, '') : opened;
          expect([opened, runs(seen)]).toEqual([opened, false]);
        }
      }),
      { numRuns: 1_500 },
    );
  });
});

describe('defuseCell', () => {
  test('changes only cells that are formulas, only by marks, and is idempotent', () => {
    fc.assert(
      fc.property(cell, delimiter, (text, separator) => {
        const defused = defuseCell(text, separator);
        expect(defused.startsWith("'")).toBe(runs(text) || text.startsWith("'"));
        expect(defused.replaceAll("'", '')).toBe(text.replaceAll("'", ''));
        // No text inside it begins a cell with any delimiter.
        if (!/[,;\t\r\n]/.test(text)) expect(defused).toBe(runs(text) ? `'${text}` : text);
        expect(defuseCell(defused, separator)).toBe(defused);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('resultsFile', () => {
  test('writes a file whose original columns are read back, with the result columns aligned after them', () => {
    const rows = fc.array(fc.array(textCell, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });
    const result = fc.record({
      vat_number: fc.option(fc.constant('DE136695976')),
      valid: fc.option(fc.boolean()),
      verdict: fc.option(fc.constantFrom('valid', 'invalid', 'malformed')),
      name: fc.option(textCell),
      address: fc.option(textCell),
      consultation_number: fc.option(textCell),
      check_id: fc.option(fc.constant('chk_1')),
      error: fc.option(fc.constant('BAD_REQUEST')),
    });
    fc.assert(
      fc.property(rows, result, delimiter, fc.boolean(), (originals, outcome, separator, bom) => {
        const width = Math.max(...originals.map((row) => row.length));
        const file = resultsFile({ columns: RESULT_COLUMNS, header: null, width, delimiter: separator, bom });
        const text = file.header() + originals.map((row) => file.row(row, outcome)).join('');
        const read = [...scanRows(text.slice(bom ? 1 : 0), separator)].map((row) => row.cells);
        expect(read).toHaveLength(originals.length + 1);
        for (const [index, row] of originals.entries()) {
          const padded = Array.from({ length: width }, (_, column) => row[column] ?? '');
          const added = Object.values(outcome).map((value) => (value === null ? '' : String(value)));
          expect(read[index + 1]).toEqual(
            [...padded, ...added].map((written, n, row) => readBack(written, separator, n === row.length - 1)),
          );
        }
      }),
      { numRuns: 300 },
    );
  });
});

describe('readBatchFile', () => {
  const soup = fc.array(fc.oneof(piece, fc.constantFrom('vat', 'Land', 'id', 'DE', '\n', ';'), fc.string()), {
    maxLength: 40,
  });
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    soup.map((parts) => utf8(parts.join(''))),
    soup.map((parts) => utf8(`vat;ref;country\nDE136695976;x;DE\n${parts.join('')}`)),
    soup.map((parts) => utf16(parts.join(''))),
    soup.map((parts) => Buffer.from(parts.join(''), 'latin1')),
  );

  test('reads any bytes, or refuses them with a code and, for INVALID_CSV, a line of the file', () => {
    fc.assert(
      fc.property(bytes, (file) => {
        try {
          const { rows, width, columns, repairs } = readBatchFile(file);
          expect(rows.length).toBeGreaterThan(0);
          expect(columns.candidate).toBeLessThan(width);
          let last = 0;
          for (const row of rows) {
            expect(row.line).toBeGreaterThan(last);
            expect(row.cells.length).toBeLessThanOrEqual(width);
            last = row.line;
          }
          for (const { line, column, before } of repairs) {
            expect(rows.find((row) => row.line === line)?.cells[column]).toBeDefined();
            expect(before).not.toBe('');
          }
        } catch (error) {
          if (!(error instanceof AppError)) throw error;
          expect(['EMPTY_FILE', 'TOO_MANY_ROWS', 'INVALID_CSV', 'INVALID_FILE', 'MISSING_CANDIDATE']).toContain(
            error.code,
          );
          if (error.code.startsWith('INVALID')) expect(error.extra.line).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: 1_500 },
    );
  });

  test('reads the same rows with any delimiter, line end and encoding', () => {
    const content = fc.array(
      fc.tuple(
        fc.constantFrom('DE136695976', 'FR83404833048', '743110157', 'n/a'),
        textCell.map((text) => text.replace(/[\r\n]/g, ' ')),
      ),
      { minLength: 1, maxLength: 5 },
    );
    const write = (rows: [string, string][], separator: CsvDelimiter, end: string) =>
      [['vat_number', 'note'], ...rows].map((row) => csvRow(row, separator).replace(/\r\n$/, end)).join('');
    fc.assert(
      fc.property(
        content,
        delimiter,
        fc.constantFrom('\n', '\r\n', '\r'),
        fc.boolean(),
        (rows, separator, end, wide) => {
          const text = `\uFEFF${write(rows, separator, end)}`;
          const read = readBatchFile(wide ? utf16(text) : utf8(text));
          expect(read.source).toMatchObject({ delimiter: separator });
          expect(read.rows.map((row) => row.cells)).toEqual(
            rows.map((row) => row.map((text, n) => readBack(text, separator, n === 1))),
          );
          expect(read.rows.map((row) => row.line)).toEqual(rows.map((_, index) => index + 2));
        },
      ),
      { numRuns: 500 },
    );
  });
});
