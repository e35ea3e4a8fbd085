import { isCountryCode } from './is-country-code.js';
import { nameColumns } from './name-columns.js';
import { rateVatText } from './rate-vat-text.js';

/** Rows among which the header is looked for. */
const FIRST = 10;

/** Whether some cell is a well-formed number, by itself or with the country that another one names. */
const holdsNumber = (cells: readonly string[]): boolean =>
  [undefined, ...cells.filter(isCountryCode)].some((code) => cells.some((cell) => rateVatText(cell, code) === 2));

/**
 * How many rows stand above the header: a title, the day of an export. The header is the first row that names the number's
 * column while no number was met yet, and below which that column has a digit somewhere, unless nothing is below: a row of data
 * may name a kind of number (`NIF`, `VAT`) in words, too. 0 where there is none among the first ten.
 *
 * @param rows those that are not blank
 */
export const countPreamble = (rows: readonly (readonly string[])[]): number => {
  for (const [at, cells] of rows.slice(0, FIRST).entries()) {
    const [candidate] = nameColumns(cells).candidate;
    const below = rows.slice(at + 1);
    if (candidate !== undefined && (below.length === 0 || below.some((row) => /\d/.test(row[candidate] ?? ''))))
      return at;
    if (holdsNumber(cells)) return 0;
  }
  return 0;
};
