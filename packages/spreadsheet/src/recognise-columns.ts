import { isBlank } from './is-blank.js';
import { isCountryCode } from './is-country-code.js';
import { rateVatText } from './rate-vat-text.js';

type Rows = readonly (readonly string[])[];

/** A column that reached this rating is recognised; the rest of a long file need not be read for it. */
const ENOUGH = 200;

/** Leftmost column with the highest sum of ratings; null when all are 0. */
const bestColumn = (rows: Rows, rate: (cell: string, row: readonly string[], column: number) => number) => {
  const sums: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      const sum = sums[column] ?? 0;
      if (sum < ENOUGH) sums[column] = sum + rate(cell, row, column);
    }
  }
  const best = sums.reduce((most, sum) => Math.max(most, sum), 0);
  return best === 0 ? null : sums.indexOf(best);
};

/** Leftmost column of nothing but country codes. The first row may be a header that we cannot read. */
const findCountryColumn = (rows: Rows): number | null => {
  const body = rows.length > 1 ? rows.slice(1) : rows;
  const codes: number[] = [];
  const others = new Set<number>();
  for (const row of body) {
    for (const [column, cell] of row.entries()) {
      if (others.has(column) || isBlank(cell)) continue;
      if (isCountryCode(cell)) codes[column] = (codes[column] ?? 0) + 1;
      else others.add(column);
    }
  }
  const found = codes.findIndex((count, column) => count > 0 && !others.has(column));
  return found === -1 ? null : found;
};

/** Whether some number that stands by itself would be refused for what the country column says beside it. */
const contradicts = (rows: Rows, candidate: number, country: number): boolean =>
  rows.some((row) => {
    const number = row[candidate] ?? '';
    const code = row[country] ?? '';
    return isCountryCode(code) && rateVatText(number) >= 2 && rateVatText(number, code) === 0;
  });

/**
 * The column of the numbers by what the cells look like, for files whose first row does not name it, and the column of
 * their countries when the numbers need one or it agrees with them. Null when no cell looks like a number.
 *
 * @param namedCountry the country's column when the first row names that
 */
export const recogniseColumns = (
  rows: Rows,
  namedCountry: number | null,
): { candidate: number; country: number | null } | null => {
  const country = namedCountry ?? findCountryColumn(rows);
  const candidate = bestColumn(rows, (cell) => rateVatText(cell));
  if (candidate !== null) {
    const agrees = country !== null && (namedCountry !== null || !contradicts(rows, candidate, country));
    return { candidate, country: agrees ? country : null };
  }
  if (country === null) return null;
  const national = bestColumn(rows, (cell, row, column) => {
    const code = row[country];
    return column === country || code === undefined || !isCountryCode(code) ? 0 : rateVatText(cell, code);
  });
  return national === null ? null : { candidate: national, country };
};
