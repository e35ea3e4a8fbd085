import { isCountryCode } from './is-country-code.js';
import { nameColumns } from './name-columns.js';
import { rateVatText } from './rate-vat-text.js';

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
