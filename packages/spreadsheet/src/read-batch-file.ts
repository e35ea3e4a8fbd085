import type { BatchRow } from '@vat/domain';
import { AppError } from '@vat/domain/errors';
import { BATCH_LIMITS, type BatchFile, type Columns, invalidCsv, type Repair } from './batch-file.js';
import { isBlank } from './cells.js';
import { chooseDelimiter, countPreamble } from './choose-delimiter.js';
import { layOutColumns } from './columns.js';
import { type CountryReader, createCountryReader } from './country-cells.js';
import { decodeText } from './decode-text.js';
import { detectFormat } from './detect-format.js';
import { type ScannedRow, scanRows } from './scan-rows.js';
import { repairCell } from './vat-cells.js';
import { invalidFile, namingErrors } from './xlsx/invalid-file.js';
import { listNames, readWorkbook } from './xlsx/read-workbook.js';

/** What a file is beside its rows, and its rows as they are read. */
type Table = { source: BatchFile['source']; rows: Iterable<ScannedRow> };

const openCsv = (bytes: Uint8Array, sheet: string | undefined): Table => {
  if (sheet !== undefined)
    throw invalidFile('The file is not a workbook and has no sheets. Leave out `sheet`, or upload an .xlsx file.');
  const { text, encoding, bom } = decodeText(bytes);
  const { delimiter, from } = chooseDelimiter(text);
  return { source: { format: 'csv', encoding, bom, delimiter }, rows: scanRows(text, delimiter, from) };
};

const openSheet = (bytes: Uint8Array, wanted: string | undefined): Table => {
  const { sheet, sheets, rows } = readWorkbook(bytes, wanted);
  return { source: { format: 'xlsx', sheet, sheets }, rows };
};

/** `sheet`: the name of the sheet to read; without it the first one with data is read. */
export type ReadOptions = { sheet?: string | undefined };

/**
 * Reads files of European spreadsheets. CSV: with comma, semicolon, tab, vertical bar or a `sep=` line; UTF-8, UTF-16 or Windows-1252. Excel
 * workbooks (.xlsx): the first sheet with data, or the one that is named. With or without a header row, and with a title above it.
 * Works in Node and in browsers. The caller must limit the size of the file; time and memory are linear in it, or in what a
 * workbook states as its unpacked size, at most 50 MiB.
 *
 * @throws AppError EMPTY_FILE (no row of data), TOO_MANY_ROWS (over 10 000), MISSING_CANDIDATE (no column can be the
 * number), INVALID_CSV (undecodable, unbalanced, another format, two columns named alike) and INVALID_FILE (the same for
 * workbooks) with `extra.line`, FILE_TOO_LARGE (a sheet with more text than a CSV file may have)
 */
export const readBatchFile = (bytes: Uint8Array, { sheet }: ReadOptions = {}): BatchFile => {
  if (bytes.length === 0) throw new AppError('EMPTY_FILE');
  const format = detectFormat(bytes);
  return namingErrors(format, () => {
    const table = format === 'xlsx' ? openSheet(bytes, sheet) : openCsv(bytes, sheet);
    return namingSheet(table.source, () => readTable(table));
  });
};

/** Names the sheet without numbers and the other sheets, one of which may have them: the first one may be a cover. */
const namingSheet = <T>(source: BatchFile['source'], work: () => T): T => {
  try {
    return work();
  } catch (error) {
    const isWithoutNumbers =
      error instanceof AppError && (error.code === 'MISSING_CANDIDATE' || error.code === 'EMPTY_FILE');
    if (!isWithoutNumbers || source.format !== 'xlsx' || source.sheets.length < 2) throw error;
    const what = error.code === 'EMPTY_FILE' ? 'has no data row' : 'has no column that can be the VAT number';
    const others = listNames(source.sheets.filter((name) => name !== source.sheet));
    throw new AppError(error.code, {
      message: `The sheet “${source.sheet.slice(0, 60)}” ${what}. If the numbers are in another sheet, choose it: ${others}.`,
      cause: error,
    });
  }
};

const readTable = ({ source, rows }: Table): BatchFile => {
  const readCountry = createCountryReader();
  const collected = collectRows(rows);
  const preamble = preambleOf(collected);
  const scanned = collected.slice(preamble);
  const { columns, foundBy, hasHeader } = layOutColumns(scanned, readCountry);

  const data = hasHeader ? scanned.slice(1) : scanned;
  if (data.length === 0) throw new AppError('EMPTY_FILE');
  if (data.length > BATCH_LIMITS.rows) throw new AppError('TOO_MANY_ROWS');

  const repairs: Repair[] = [];
  const readRow = createRowReader({ columns, readCountry, repairs });
  const width = scanned.reduce((widest, { cells }) => Math.max(widest, cells.length), 0);
  const header = (hasHeader && scanned[0]?.cells) || null;
  return { source, preamble, header, width, columns, foundBy, rows: data.map(readRow), repairs };
};

const preambleOf = (rows: readonly ScannedRow[]): number => countPreamble(rows.map(({ cells }) => cells));

/** The least length of a line that separates. A shorter one may be a mark for an empty cell. */
const MIN_RULE = 10;

/** The same for each of several cells: `|---|---|`. */
const MIN_RULE_CELL = 3;

/** Whether a row is a line of dashes, with which programs separate the header, the rows and the totals of a printed list. */
const isRule = (cells: readonly string[]): boolean => {
  const filled = cells.filter((cell) => !isBlank(cell));
  const least = filled.length === 1 ? MIN_RULE : MIN_RULE_CELL;
  return filled.length > 0 && filled.every((cell) => cell.length >= least && /^\s*[-+=_]+\s*$/.test(cell));
};

/** The rows that are neither blank nor lines of dashes. Throws as soon as there are too many, not counting the header and the rows above it. */
const collectRows = (rows: Iterable<ScannedRow>): ScannedRow[] => {
  const collected: ScannedRow[] = [];
  for (const row of rows) {
    if (row.isTooWide) throw invalidCsv(row.line, `Line ${row.line} has more than 1 000 columns.`);
    if (row.cells.every(isBlank) || isRule(row.cells)) continue;
    collected.push(row);
    const over = collected.length - BATCH_LIMITS.rows - 1;
    if (over > 0 && over > preambleOf(collected)) throw new AppError('TOO_MANY_ROWS');
  }
  if (collected.length === 0) throw new AppError('EMPTY_FILE');
  return collected;
};

/** Creates a reader that assigns a row's cells to their meanings and adds its repairs to `repairs`. */
const createRowReader =
  ({ columns, readCountry, repairs }: { columns: Columns; readCountry: CountryReader; repairs: Repair[] }) =>
  ({ line, cells }: ScannedRow): BatchRow => {
    const read = (column: number | null, holds: 'number' | 'text'): string => {
      if (column === null) return '';
      const { text, steps } = repairCell(cells[column] ?? '', holds);
      repairs.push(...steps.map((step) => ({ ...step, line, column })));
      return text;
    };
    const candidate = read(columns.candidate, 'number');
    const country = read(columns.country, 'text');
    const code = readCountry(country);
    if (code !== null && columns.country !== null) {
      repairs.push({ kind: 'country_name_read', line, column: columns.country, before: country, after: code });
    }
    return {
      line,
      cells,
      candidate,
      country: (code ?? country) || null,
      reference: read(columns.reference, 'text') || null,
      requester: read(columns.requester, 'number') || null,
    };
  };
