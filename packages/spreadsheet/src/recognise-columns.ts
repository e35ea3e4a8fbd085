import type { Columns } from './batch-file.js';
import { foldName, isBlank } from './cells.js';
import { type CountryReader, isCountryCode } from './country-cells.js';
import { MAX_NAME } from './find-columns.js';
import { rateVatText } from './vat-cells.js';

type Rows = readonly (readonly string[])[];

/** A column with this sum of ratings is recognised; further rows are not rated for it. */
const SUFFICIENT_SUM = 200;

/** The leftmost column with the highest sum of ratings; null when all are 0. */
const bestColumn = (rows: Rows, rate: (cell: string, row: readonly string[], column: number) => number) => {
  const sums: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      const sum = sums[column] ?? 0;
      if (sum < SUFFICIENT_SUM) sums[column] = sum + rate(cell, row, column);
    }
  }
  const best = sums.reduce((max, sum) => Math.max(max, sum), 0);
  return best === 0 ? null : sums.indexOf(best);
};

/** The leftmost column with only country codes. The first row is ignored, because it may be an unknown header. */
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

/** Whether some complete number would be refused because of the country in its row. */
export const contradicts = (rows: Rows, candidate: number, country: number): boolean =>
  rows.some((row) => {
    const number = row[candidate] ?? '';
    const code = row[country] ?? '';
    return isCountryCode(code) && rateVatText(number) >= 2 && rateVatText(number, code) === 0;
  });

/**
 * The column without a known name whose countries complete the numbers of a named column that have no prefix: accounting programs
 * call it `LKZ`, `VAT country` or `Prefix`. It contains only countries, several of them, contradicts no number and completes most.
 * Null as well when two columns complete equally many with different countries.
 */
export const findCompletingCountry = (
  rows: Rows,
  candidate: number,
  isFree: (column: number) => boolean,
  readCountry: CountryReader,
): number | null => {
  const codeOf = (cell = ''): string | null => {
    if (isCountryCode(cell)) return cell;
    // A single letter, a sign of vehicles, is more often something else.
    return foldName(cell.slice(0, MAX_NAME)).length > 1 ? readCountry(cell) : null;
  };
  const codes = new Map<number, (string | null)[]>();
  const excluded = new Set<number>([candidate]);
  for (const [at, row] of rows.entries()) {
    for (const [column, cell] of row.entries()) {
      if (excluded.has(column) || isBlank(cell)) continue;
      const code = isFree(column) ? codeOf(cell) : null;
      if (code === null) {
        excluded.add(column);
        codes.delete(column);
      } else {
        const ofColumn = codes.get(column) ?? rows.map(() => null);
        ofColumn[at] = code;
        codes.set(column, ofColumn);
      }
    }
  }
  const numbers = rows.map((row) => row[candidate] ?? '');
  const ratings = numbers.map((number) => rateVatText(number));
  const lacking = numbers.filter((number, at) => ratings[at] === 0 && /\d/.test(number)).length;
  const completing = [...codes].flatMap(([column, ofColumn]) => {
    const rated = ofColumn.map((code, at) => (code === null ? null : rateVatText(numbers[at] ?? '', code)));
    if (rated.some((rating, at) => rating === 0 && (ratings[at] ?? 0) === 2)) return [];
    const completed = ofColumn.filter((_code, at) => rated[at] === 2 && ratings[at] === 0);
    const count = completed.length;
    // One country in all rows may be that of the sender: nine digits are a number of DE, EE, EL and PT alike.
    return 2 * count > lacking && new Set(completed).size > 1 ? [{ column, count, ofColumn }] : [];
  });
  const most = Math.max(...completing.map(({ count }) => count));
  const [best, ...others] = completing.filter(({ count }) => count === most);
  const agree = others.every(({ ofColumn }) => ofColumn.every((code, at) => code === best?.ofColumn[at]));
  return best !== undefined && agree ? best.column : null;
};

/** The columns with different well-formed numbers, and fewer cells that only resemble one: codes like `RO10001` may be both. */
export const variedColumns = (rows: Rows): ReadonlySet<number> => {
  const columns: { first: string; isVaried: boolean; surplus: number }[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) {
      const rating = rateVatText(cell);
      if (rating === 0) continue;
      columns[column] ??= { first: '', isVaried: false, surplus: 0 };
      const counted = columns[column];
      counted.surplus += rating === 2 ? 1 : -1;
      if (rating < 2) continue;
      counted.first ||= cell;
      counted.isVaried ||= cell !== counted.first;
    }
  }
  return new Set(columns.flatMap(({ isVaried, surplus }, column) => (isVaried && surplus > 0 ? [column] : [])));
};

/**
 * Recognises the column of the numbers by the form of its cells, for files whose first row does not name it, and the
 * column of their countries if the numbers need one or agree with it. Null when no cell looks like a number. The requester's
 * column has VAT numbers too, which are not those to check; that of the references may have the numbers, or codes like `DE10001`.
 * A column that repeats one number is most likely the own number of the file's sender, if another one has different numbers.
 *
 * @param named the columns with other meanings if the first row names them
 */
export const recogniseColumns = (
  rows: Rows,
  named: Omit<Columns, 'candidate'>,
): { candidate: number; country: number | null } | null => {
  const country = named.country ?? findCountryColumn(rows);
  const rate = (cell: string, _row: readonly string[], column: number): number => {
    if (column === named.requester) return 0;
    const rating = rateVatText(cell);
    return column === named.reference ? Math.max(0, rating - 1) : rating;
  };
  const rateNational: typeof rate = (cell, row, column) => {
    const code = row[country ?? -1];
    if (column === country || column === named.requester || column === named.reference) return 0;
    return code === undefined || !isCountryCode(code) ? 0 : rateVatText(cell, code);
  };
  const countNumbers = (column: number, rateCell: typeof rate): number =>
    rows.filter((row) => rateCell(row[column] ?? '', row, column) === 2).length;
  let candidate = bestColumn(rows, rate);
  // Codes like `DE10001` only resemble numbers. Not decided by a single row, where a number may have a mistake.
  if (candidate !== null && country !== null && countNumbers(candidate, (cell) => rateVatText(cell)) === 0) {
    const national = bestColumn(rows, rateNational);
    const completed = national === null ? 0 : countNumbers(national, rateNational);
    if (national !== null && completed > 1 && 2 * completed > rows.length - 1) return { candidate: national, country };
  }
  if (candidate !== null) {
    const varied = variedColumns(rows);
    const rateVaried: typeof rate = (cell, row, column) =>
      varied.has(column) && column !== named.reference ? rate(cell, row, column) : 0;
    if (!varied.has(candidate)) candidate = bestColumn(rows, rateVaried) ?? candidate;
    const agrees = country !== null && (named.country !== null || !contradicts(rows, candidate, country));
    return { candidate, country: agrees ? country : null };
  }
  if (country === null) return null;
  const national = bestColumn(rows, rateNational);
  return national === null ? null : { candidate: national, country };
};
