import { AppError } from '@vat/domain/errors';
import { type BatchFile, type Columns, invalidCsv, type Meaning } from './batch-file.js';
import { foldName, isBlank } from './cells.js';
import { HEADER_NAMES } from './header-names.js';
import { RESULT_COLUMNS } from './results-file.js';
import type { ScannedRow } from './scan-rows.js';
import { type CountryReader, findPrefixedColumn, isCountryCode, rateVatText } from './vat-cells.js';

/** Columns by meaning that a header row names equally surely; normally one or none each. */
type NamedColumns = Record<Meaning, number[]>;

/** How sure each folded name is, 0 being the surest. */
type Ranks = ReadonlyMap<string, number>;

const ranksOf = (meaning: Meaning): Ranks =>
  new Map(
    HEADER_NAMES[meaning].flatMap((names, rank) => names.map((name) => [foldName(name), rank] as const)).reverse(),
  );

const RANKS: Readonly<Record<Meaning, Ranks>> = {
  candidate: ranksOf('candidate'),
  country: ranksOf('country'),
  reference: ranksOf('reference'),
  requester: ranksOf('requester'),
};

/** Longer than any name with an explanation behind it; data is not folded for nothing. */
const LONGEST_NAME = 200;

const LEAST_SURE_REFERENCE = 1;

/** A header cell as it is looked up: folded as a whole, and in its parts where it has several. */
type FoldedName = { whole: string; parts: readonly string[] };

const PART_ENDS = /[/|()[\]\r\n:]+/;
/** More parts than any name has; a cell of two hundred slashes is none. */
const MAX_PARTS = 12;

/** Folded once for all meanings: folding is what a row of a thousand long names costs. */
const foldCell = (cell: string): FoldedName | null => {
  if (cell.length > LONGEST_NAME) return null;
  const parts = cell.split(PART_ENDS, MAX_PARTS);
  return { whole: foldName(cell), parts: parts.length > 1 ? parts.map(foldName) : [] };
};

/**
 * The surest rank of a header cell, or null. `USt-IdNr. (Kunde)*` and `VAT number / N° TVA` are looked up by their parts
 * too, but only as sure names: a part is found by chance more easily.
 */
const rankOf = (ranks: Ranks, { whole, parts }: FoldedName): number | null =>
  ranks.get(whole) ?? (parts.some((part) => ranks.get(part) === 0) ? 0 : null);

/**
 * A results file that is uploaded again ends with our own columns: their `vat_number` is what we made of the number beside
 * it, so it does not compete with that.
 */
const ownColumn = (header: readonly string[]): number => {
  const start = header.length - RESULT_COLUMNS.length;
  return start > 0 && RESULT_COLUMNS.every((name, index) => header[start + index] === name) ? start : -1;
};

/**
 * What the cells of a row name, if it is a header row. More than one column of a meaning is the caller's to refuse, except
 * for the least sure references (`id` beside `Kundennummer`), of which the first is taken.
 */
export const findColumns = (header: readonly string[]): NamedColumns => {
  const taken = new Set<number>();
  const folded = header.map(foldCell);
  const named = (meaning: Meaning, except = -1): number[] => {
    const ranked = folded.flatMap((name, column) => {
      if (name === null || column === except || taken.has(column)) return [];
      const rank = rankOf(RANKS[meaning], name);
      return rank === null ? [] : [{ column, rank }];
    });
    const best = Math.min(...ranked.map(({ rank }) => rank));
    const columns = ranked.filter(({ rank }) => rank === best).map(({ column }) => column);
    return meaning === 'reference' && best === LEAST_SURE_REFERENCE ? columns.slice(0, 1) : columns;
  };
  const take = (columns: number[]): number[] => {
    for (const column of columns) taken.add(column);
    return columns;
  };
  // First, since "Requester (VAT number)" names the number by one of its parts.
  const requester = take(named('requester'));
  const theirs = named('candidate', ownColumn(header));
  const candidate = take(theirs.length > 0 ? theirs : named('candidate'));
  return { candidate, country: take(named('country')), reference: named('reference'), requester };
};

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

/** What people write where a number is missing. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['none', 'null', 'nan', 'unknown', 'unbekannt', 'inconnu', 'keine']);

/** Amounts, dates, telephone numbers: a column's name has a letter. */
const isNumeric = (cell: string): boolean => /\d/.test(cell) && !/\p{L}/u.test(cell);

/**
 * Whether the first row names columns in words we do not know, seen from the column whose other cells are numbers: its
 * cell is a word without a digit (and not "n/a"), and no cell of the row is an amount or a date.
 */
const isHeaderLike = (row: readonly string[], candidate: number): boolean => {
  const name = row[candidate] ?? '';
  if (isBlank(name) || /\d/.test(name)) return false;
  const folded = foldName(name);
  if (folded.length < 3 || PLACEHOLDERS.has(folded)) return false;
  return !row.some(isNumeric);
};

/**
 * What a row names, if it is the header. One with a number in it is data, though its other cells may be words that also name columns
 * (`id`, `Land`); what only resembles a number (`RO 2024`) is no such proof beside a name for the number's column.
 */
export const nameColumns = (cells: readonly string[]): NamedColumns => {
  const named = findColumns(cells);
  const resemblance = Math.max(0, ...cells.map((cell) => rateVatText(cell)));
  const isData = resemblance === 2 || (resemblance === 1 && named.candidate.length === 0);
  return isData ? { candidate: [], country: [], reference: [], requester: [] } : named;
};

/** Which column is which. `hasHeader` is whether the first row is a header and no data. */
type Layout = Pick<BatchFile, 'columns' | 'foundBy'> & { hasHeader: boolean };

/**
 * Rows that the columns are recognised by. Where these show no number (the first customers have none, say), further rows
 * are considered, but no more than so many cells in all: a file of 2 MiB may have a million.
 */
const SAMPLE = { rows: 200, cells: 20_000, mostCells: 100_000 };

/** The first rows, as many as hold `cells` cells; at least one. */
const firstRows = (rows: readonly ScannedRow[], cells: number): (readonly string[])[] => {
  const first: (readonly string[])[] = [];
  let held = 0;
  for (const row of rows) {
    held += row.cells.length;
    if (first.length > 0 && held > cells) break;
    first.push(row.cells);
  }
  return first;
};

/** The columns of the numbers and of their countries by what the first rows hold; null when they hold no number. */
const recogniseInFirst = (rows: readonly ScannedRow[], country: number | null, named: readonly (number | null)[]) => {
  const sample = firstRows(rows.slice(0, SAMPLE.rows), SAMPLE.cells);
  const recognised = recogniseColumns(sample, country);
  if (recognised !== null) return recognised;
  const more = firstRows(rows, SAMPLE.mostCells);
  const late = more.length > sample.length ? recogniseColumns(more, country) : null;
  if (late !== null) return late;
  const candidate = findPrefixedColumn(more, named);
  return candidate === null ? null : { candidate };
};

const MEANINGS: Readonly<Record<Meaning, string>> = {
  candidate: 'the VAT number',
  country: 'the country',
  reference: 'the reference',
  requester: "the requester's VAT number",
};

/** @throws AppError INVALID_CSV when two columns are named alike: which of them is meant is not ours to guess */
const refuseDoubles = ({ line, cells }: ScannedRow, named: NamedColumns): void => {
  for (const meaning of Object.keys(MEANINGS) as Meaning[]) {
    const [first, second] = named[meaning];
    if (first === undefined || second === undefined) continue;
    const names = [first, second].map((column) => `${column + 1} (“${cells[column]?.slice(0, 60)}”)`).join(' and ');
    throw invalidCsv(line, `Columns ${names} both name ${MEANINGS[meaning]}: rename or remove one of them.`);
  }
};

/**
 * Whether any cell of the column is a country. `Land` may head German Länder and `Kraj` Slovenian towns; taken for
 * countries they would contradict every number beside them.
 */
const holdsCountries = (rows: readonly ScannedRow[], column: number, readCountry: CountryReader): boolean =>
  rows.some(({ cells }) => {
    const cell = cells[column] ?? '';
    return isCountryCode(cell) || readCountry(cell) !== null;
  });

/**
 * Finds the columns of a file: by the names in its first row, else by what the cells look like.
 *
 * @param rows the rows that are not blank, at least one
 * @throws AppError MISSING_CANDIDATE, or EMPTY_FILE of words alone in one row, which are a header; INVALID_CSV on the header's line when two columns are named alike
 */
export const layOutColumns = (rows: readonly ScannedRow[], readCountry: CountryReader): Layout => {
  const [first, ...others] = rows;
  if (first === undefined) throw new AppError('EMPTY_FILE');
  const named = nameColumns(first.cells);
  const hasNames = Object.values(named).some((columns) => columns.length > 0);
  named.country = named.country.filter((column) => holdsCountries(others, column, readCountry));
  refuseDoubles(first, named);

  const columns: Omit<Columns, 'candidate'> = {
    country: named.country[0] ?? null,
    reference: named.reference[0] ?? null,
    requester: named.requester[0] ?? null,
  };
  const [namedCandidate] = named.candidate;
  if (namedCandidate !== undefined)
    return { columns: { candidate: namedCandidate, ...columns }, foundBy: 'header', hasHeader: true };

  const isHeaderAlone = others.length === 0 && (hasNames || !first.cells.some((cell) => /\d/.test(cell)));
  const recognised = recogniseInFirst(hasNames ? others : rows, columns.country, Object.values(columns));
  if (recognised === null) throw new AppError(isHeaderAlone ? 'EMPTY_FILE' : 'MISSING_CANDIDATE');
  const hasHeader = hasNames || (rows.length > 1 && isHeaderLike(first.cells, recognised.candidate));
  return { columns: { ...columns, ...recognised }, foundBy: 'cells', hasHeader };
};
