import { AppError } from '@vat/domain/errors';
import { isBlank } from './cells.js';
import { findColumns, nameColumns, recogniseColumns } from './columns.js';
import { type ScannedRow, scanRows } from './scan-rows.js';
import { findPrefixedColumn, isCountryCode, rateVatText } from './vat-cells.js';

/** Rows among which the header is looked for. */
const FIRST = 10;

/** Countries of a row that its cells are tried with: a hostile one has a thousand of both. */
const CODES = 3;

/** Whether some cell is a well-formed number, by itself or with the country that another one names. */
const holdsNumber = (cells: readonly string[]): boolean =>
  [undefined, ...cells.filter(isCountryCode).slice(0, CODES)].some((code) =>
    cells.some((cell) => rateVatText(cell, code) === 2),
  );

const hasDigit = (cell = ''): boolean => /\d/.test(cell);

/**
 * Whether the name of the number's column is that, and not a word for a kind of number (`NIF`, `VAT`) in a row of data: there
 * are digits below it, or neither digits beside it nor the same word below.
 */
const headsNumbers = (cells: readonly string[], column: number, below: readonly (readonly string[])[]): boolean =>
  below.some((row) => hasDigit(row[column])) ||
  !(cells.some(hasDigit) || below.some((row) => row[column] === cells[column]));

/**
 * How many rows stand above the header: a title, the day of an export. The header is the first row that names the number's
 * column while no number was met yet. 0 where there is none among the first ten.
 *
 * @param rows those that are not blank
 */
export const countPreamble = (rows: readonly (readonly string[])[]): number => {
  for (const [at, cells] of rows.slice(0, FIRST).entries()) {
    const [candidate] = nameColumns(cells).candidate;
    if (candidate !== undefined && headsNumbers(cells, candidate, rows.slice(at + 1))) return at;
    if (holdsNumber(cells)) return 0;
  }
  return 0;
};

/** The delimiter, and where the rows begin. */
type ChosenDelimiter = { delimiter: string; from: { at: number; line: number } };

/** Excel's own hint, as Excel takes it (also quoted, or filled up with delimiters by a program that kept it as a row). */
const HINT = /^"?sep=([^\s\w"]|\t)"?\1*(\r\n|\r|\n|$)/i;

/** On equal terms the first wins, so a file of one column is read with commas. */
const DELIMITERS = [',', ';', '\t'] as const;
/** Enough to tell delimiters apart, and little enough to read three times. */
const SAMPLE = { characters: 65_536, rows: 50 };

/** The first rows with a delimiter, whole ones however long, up to a broken quote: the wrong delimiter may make one of any. */
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
 * How much sense the sample makes: whether a column is named for the number, whether one holds numbers, and what share of
 * the rows has the commonest width. Where nothing can be read the delimiter's own number is left to go by, so that the
 * right one says what is wrong.
 */
const score = (text: string, at: number, delimiter: string): number => {
  const rows = sampleRows(text, at, delimiter).map(({ cells }) => cells);
  const top = rows[countPreamble(rows)];
  if (top === undefined) {
    const front = text.slice(at, at + SAMPLE.characters);
    return front.split(delimiter).length / (front.length + 2);
  }
  const isNamed = findColumns(top).candidate.length > 0;
  const isSeen = recogniseColumns(rows, null) !== null || findPrefixedColumn(rows, []) !== null;
  const widths = new Map<number, number>();
  for (const { length } of rows) if (length > 1) widths.set(length, (widths.get(length) ?? 0) + 1);
  return Number(isNamed) + Number(isSeen) + Math.max(0, ...widths.values()) / rows.length;
};

/**
 * The delimiter of a CSV text: what its `sep=` line says, else whichever of comma, semicolon and tab makes the most sense
 * of the first rows, quotes considered. Decimal commas and commas in addresses do not mislead it, since with the wrong
 * delimiter no cell is a number and the rows differ in width.
 *
 * @throws AppError EMPTY_FILE when there is nothing but blanks and delimiters
 */
export const chooseDelimiter = (text: string): ChosenDelimiter => {
  const hint = HINT.exec(text);
  if (hint?.[1] !== undefined) {
    return { delimiter: hint[1], from: { at: hint[0].length, line: hint[2] === '' ? 1 : 2 } };
  }
  // Past blank lines, but not into the middle of a line: its first cells may be empty.
  const visible = text.search(/[^\s;,]/);
  if (visible === -1) throw new AppError('EMPTY_FILE');
  const start = Math.max(text.lastIndexOf('\n', visible), text.lastIndexOf('\r', visible)) + 1;
  const scored = DELIMITERS.map((delimiter) => ({ delimiter, reached: score(text, start, delimiter) }));
  const best = Math.max(...scored.map(({ reached }) => reached));
  const delimiter = scored.find(({ reached }) => reached === best)?.delimiter ?? DELIMITERS[0];
  return { delimiter, from: { at: 0, line: 1 } };
};
