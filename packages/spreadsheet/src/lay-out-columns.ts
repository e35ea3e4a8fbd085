import { AppError } from '@vat/domain/errors';
import type { BatchFile, Columns, Meaning } from './batch-file.js';
import type { CountryReader } from './create-country-reader.js';
import type { NamedColumns } from './find-columns.js';
import { findPrefixedColumn } from './find-prefixed-column.js';
import { invalidCsv } from './invalid-csv.js';
import { isCountryCode } from './is-country-code.js';
import { isHeaderLike } from './is-header-like.js';
import { nameColumns } from './name-columns.js';
import { recogniseColumns } from './recognise-columns.js';
import type { ScannedRow } from './scan-rows.js';

/** Which column is which. `hasHeader` is whether the first row is a header and no data. */
export type Layout = Pick<BatchFile, 'columns' | 'foundBy'> & { hasHeader: boolean };

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
