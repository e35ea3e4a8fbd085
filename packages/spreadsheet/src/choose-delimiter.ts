import { AppError } from '@vat/domain/errors';
import { isBlank } from './cells.js';
import { nameColumns } from './columns.js';
import { isCountryCode } from './country-cells.js';
import { findColumns } from './find-columns.js';
import { recogniseColumns } from './recognise-columns.js';
import { type ScannedRow, scanRows } from './scan-rows.js';
import { findPrefixedColumn, rateVatText } from './vat-cells.js';

/** The number of rows in which the header is searched. */
const MAX_PREAMBLE_ROWS = 10;

/** The maximum of country codes with which a row's cells are tried: a hostile row has a thousand of both. */
const MAX_CODES = 3;

/** Whether some cell is a well-formed number, by itself or with the country in another cell. */
const holdsNumber = (cells: readonly string[]): boolean =>
  [undefined, ...cells.filter(isCountryCode).slice(0, MAX_CODES)].some((code) =>
    cells.some((cell) => rateVatText(cell, code) === 2),
  );

const hasDigit = (cell = ''): boolean => /\d/.test(cell);

/**
 * Whether a cell with a name for the number's column is a column name, and not a kind of number (`NIF`, `VAT`) in a
 * row of data: there are digits below it, or there are neither digits beside it nor the same word below it.
 */
const headsNumbers = (cells: readonly string[], column: number, below: readonly (readonly string[])[]): boolean =>
  below.some((row) => hasDigit(row[column])) ||
  !(cells.some(hasDigit) || below.some((row) => row[column] === cells[column]));

/** The least number of filled cells of a header below the sender's own number; a shorter row may be data. */
const MIN_HEADER_CELLS = 3;

/** Whether a row has one number, alone or beside its name: the own number of the file's sender, if a header follows. */
const isOwnNumber = (cells: readonly string[]): boolean => {
  const filled = cells.filter((cell) => !isBlank(cell));
  const others = filled.filter((cell) => rateVatText(cell) < 2);
  if (filled.length - others.length !== 1 || others.length > 1) return false;
  const { candidate, requester } = findColumns(others);
  return others.length === 0 || candidate.length > 0 || requester.length > 0;
};

/**
 * Counts the rows above the header, such as a title or the date of an export. The header is the first row that names the
 * number's column, before any row of data. 0 when there is no header in the first ten rows.
 *
 * @param rows the non-blank rows
 */
export const countPreamble = (rows: readonly (readonly string[])[]): number => {
  let hasOwnNumber = false;
  const isClear = (cells: readonly string[]): boolean =>
    cells.filter((cell) => !isBlank(cell)).length >= MIN_HEADER_CELLS && !cells.some(hasDigit);
  for (const [at, cells] of rows.slice(0, MAX_PREAMBLE_ROWS).entries()) {
    const [candidate] = nameColumns(cells).candidate;
    const isHeader = candidate !== undefined && headsNumbers(cells, candidate, rows.slice(at + 1));
    if (isHeader && (!hasOwnNumber || isClear(cells))) return at;
    if (!holdsNumber(cells)) continue;
    if (!isOwnNumber(cells)) return 0;
    hasOwnNumber = true;
  }
  return 0;
};

/** The delimiter, and where the rows begin. */
type ChosenDelimiter = { delimiter: string; from: { at: number; line: number } };

/**
 * Excel's `sep=` line, as Excel accepts it: also quoted, or padded with delimiters by a program that treated it as a
 * row.
 */
const SEP_LINE = /^"?sep=([^\s\w"]|\t)"?\1*(\r\n|\r|\n|$)/i;

/** The first one wins a tie, so a file of one column is read with commas, unless empty rows show another one. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
/** The part of the file that is read once with each delimiter. */
const SAMPLE = { characters: 65_536, rows: 50 };

/** The first complete rows with a delimiter, up to a broken quote, which the wrong delimiter may cause. */
const sampleRows = (text: string, at: number, delimiter: string): ScannedRow[] => {
  const rows: ScannedRow[] = [];
  let characters = 0;
  try {
    for (const row of scanRows(text, delimiter, { at, line: 1 })) {
      if (!row.cells.every(isBlank)) rows.push(row);
      for (const cell of row.cells) characters += cell.length + 1;
      if (rows.length === SAMPLE.rows || characters >= SAMPLE.characters) return rows;
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
  return rows;
};

/**
 * Scores a delimiter: whether a column is named for the number, whether one contains numbers, and the share of the rows
 * with the most common width. When no row can be read, the number of delimiters decides, so that the error message is
 * that of the correct delimiter.
 */
const score = (text: string, at: number, delimiter: string): number => {
  const rows = sampleRows(text, at, delimiter).map(({ cells }) => cells);
  const top = rows[countPreamble(rows)];
  if (top === undefined) {
    const front = text.slice(at, at + SAMPLE.characters);
    return front.split(delimiter).length / (front.length + 2);
  }
  const isNamed = findColumns(top).candidate.length > 0;
  const isRecognised =
    recogniseColumns(rows, { country: null, reference: null, requester: null }) !== null ||
    findPrefixedColumn(rows, []) !== null;
  const widths = new Map<number, number>();
  for (const { length } of rows) if (length > 1) widths.set(length, (widths.get(length) ?? 0) + 1);
  return Number(isNamed) + Number(isRecognised) + Math.max(0, ...widths.values()) / rows.length;
};

/**
 * A delimiter in the first line with which a quote is never closed, where the best one finds a single column: its cells would be
 * whole lines, and the quote is the fault.
 */
const unreadable = (text: string, at: number, best: string): string | undefined => {
  if (sampleRows(text, at, best).some(({ cells }) => cells.length > 1)) return undefined;
  const [line = ''] = /^.*/.exec(text.slice(at, at + SAMPLE.characters)) ?? [];
  return DELIMITERS.find((other) => line.includes(other) && sampleRows(text, at, other).length === 0);
};

/** Whether a line holds nothing but the delimiter and spaces. */
const hasEmptyRow = (text: string, delimiter: string): boolean =>
  new RegExp(`^ *[${delimiter}][ ${delimiter}]*$`, 'm').test(text);

/**
 * Chooses the delimiter of a CSV text: that of its `sep=` line, else the one of comma, semicolon, tab and vertical bar with the
 * best score for the first rows. Decimal commas and commas in addresses do not mislead it, since with the wrong delimiter no
 * cell is a number and the rows differ in width.
 *
 * @throws AppError EMPTY_FILE when there are only blanks and delimiters
 */
export const chooseDelimiter = (text: string): ChosenDelimiter => {
  const sepLine = SEP_LINE.exec(text);
  if (sepLine?.[1] !== undefined) {
    return { delimiter: sepLine[1], from: { at: sepLine[0].length, line: sepLine[2] === '' ? 1 : 2 } };
  }
  // Skips blank lines, but begins at the start of a line, because its first cells may be empty.
  const visible = text.search(/[^\s;,|]/);
  if (visible === -1) throw new AppError('EMPTY_FILE');
  const start = Math.max(text.lastIndexOf('\n', visible), text.lastIndexOf('\r', visible)) + 1;
  const scored = DELIMITERS.map((delimiter) => ({ delimiter, points: score(text, start, delimiter) }));
  const best = Math.max(...scored.map(({ points }) => points));
  const tied = scored.filter(({ points }) => points === best).map(({ delimiter }) => delimiter);
  const scoredBest = tied.find((delimiter) => hasEmptyRow(text, delimiter)) ?? tied[0] ?? DELIMITERS[0];
  const delimiter = unreadable(text, start, scoredBest) ?? scoredBest;
  return { delimiter, from: { at: 0, line: 1 } };
};
