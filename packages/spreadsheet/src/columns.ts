import { AppError } from '@vat/domain/errors';
import { type BatchFile, type Columns, invalidCsv, type Meaning } from './batch-file.js';
import { foldName, isBlank } from './cells.js';
import { type CountryReader, isCountryCode } from './country-cells.js';
import { addedColumns, findColumns, isCertainName, isChosenName, MAX_NAME, type NamedColumns } from './find-columns.js';
import { contradicts, findCompletingCountry, recogniseColumns, variedColumns } from './recognise-columns.js';
import type { ScannedRow } from './scan-rows.js';
import { findPrefixedColumn, rateVatText } from './vat-cells.js';

/** Words that people write for a missing number. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['none', 'null', 'nan', 'unknown', 'unbekannt', 'inconnu', 'keine']);

/** Whether a cell is an amount, date or telephone number; the name of a column contains a letter. */
const isNumeric = (cell: string): boolean => /\d/.test(cell) && !/\p{L}/u.test(cell);

/**
 * Whether the first row is a header with unknown names: its cell in the column of the numbers is a word without a digit
 * (and not "n/a"), and no cell of the row is an amount or a date.
 */
const isHeaderLike = (row: readonly string[], candidate: number): boolean => {
  const name = row[candidate] ?? '';
  if (isBlank(name) || /\d/.test(name)) return false;
  const folded = foldName(name.slice(0, MAX_NAME));
  if (folded.length < 3 || PLACEHOLDERS.has(folded)) return false;
  return !row.some(isNumeric);
};

/**
 * The columns that a row names, if it is a header. A row that contains a number is data, even if other cells also name
 * columns (`id`, `Land`). A cell that only resembles a number (`RO 2024`) does not make a row data if the row also names
 * the number's column.
 */
export const nameColumns = (cells: readonly string[]): NamedColumns => {
  const named = findColumns(cells);
  const resemblance = Math.max(0, ...cells.map((cell) => rateVatText(cell)));
  const isData = resemblance === 2 || (resemblance === 1 && named.candidate.length === 0);
  return isData ? { candidate: [], country: [], reference: [], requester: [] } : named;
};

/** The meaning of the columns. `hasHeader`: whether the first row is a header. */
type Layout = Pick<BatchFile, 'columns' | 'foundBy'> & { hasHeader: boolean };

/**
 * The sample by which the columns are recognised. If it contains no number (the first customers may have none), further
 * rows are considered, at most `maxCells` cells in total: a file of 2 MiB may have a million.
 */
const SAMPLE = { rows: 200, cells: 20_000, maxCells: 100_000 };

/** The first rows with at most `cells` cells in total, but at least one row. */
const firstRows = (rows: readonly ScannedRow[], cells: number): (readonly string[])[] => {
  const first: (readonly string[])[] = [];
  let total = 0;
  for (const row of rows) {
    total += row.cells.length;
    if (first.length > 0 && total > cells) break;
    first.push(row.cells);
  }
  return first;
};

/**
 * The columns of the numbers and of their countries, recognised from the first rows; null when these contain no
 * number.
 */
const recogniseInFirst = (rows: readonly ScannedRow[], named: Omit<Columns, 'candidate'>) => {
  const sample = firstRows(rows.slice(0, SAMPLE.rows), SAMPLE.cells);
  const recognised = recogniseColumns(sample, named);
  if (recognised !== null) return recognised;
  const more = firstRows(rows, SAMPLE.maxCells);
  const recognisedLater = more.length > sample.length ? recogniseColumns(more, named) : null;
  if (recognisedLater !== null) return recognisedLater;
  const candidate = findPrefixedColumn(more, Object.values(named));
  return candidate === null ? null : { candidate };
};

const MEANINGS: Readonly<Record<Meaning, string>> = {
  candidate: 'the VAT number',
  country: 'the country',
  reference: 'the reference',
  requester: "the requester's VAT number",
};

/** The number of a column, from 1, and its name. */
const nameColumn = (header: readonly string[], column: number): string =>
  `${column + 1} (“${header[column]?.slice(0, 60)}”)`;

/** @throws AppError INVALID_CSV when two columns have the same meaning, because guessing could use the wrong one */
const refuseDuplicates = ({ line, cells }: ScannedRow, named: NamedColumns): void => {
  for (const meaning of Object.keys(MEANINGS) as Meaning[]) {
    const [first, second] = named[meaning];
    if (first === undefined || second === undefined) continue;
    const names = [first, second].map((column) => nameColumn(cells, column)).join(' and ');
    throw invalidCsv(line, `Columns ${names} both name ${MEANINGS[meaning]}: rename or remove one of them.`);
  }
};

/**
 * Whether any cell of the column is a country. `Land` may be the header of German Länder and `Kraj` that of Slovenian
 * towns; read as countries they would contradict every number in their rows. A single letter (`D`) may stand for something else
 * where the column has no other country, unless a number without a prefix is one of that country.
 */
const holdsCountries = (
  rows: readonly ScannedRow[],
  column: number,
  candidates: readonly number[],
  readCountry: CountryReader,
): boolean =>
  rows.some(({ cells }) => {
    const cell = cells[column] ?? '';
    if (isCountryCode(cell)) return true;
    const code = readCountry(cell);
    if (code === null || foldName(cell).length > 1) return code !== null;
    const numbers = candidates.map((candidate) => cells[candidate] ?? '');
    return numbers.some((number) => rateVatText(number) === 0 && rateVatText(number, code) === 2);
  });

/**
 * The beginning of a file whose first row may not say which column has the numbers to check. `others`: the columns without a known
 * name; `varied`: the columns with different numbers.
 */
type Beginning = {
  header: readonly string[];
  named: NamedColumns;
  sample: readonly (readonly string[])[];
  others: readonly number[];
  varied: ReadonlySet<number>;
};

const readBeginning = (rows: readonly ScannedRow[], header: readonly string[], named: NamedColumns): Beginning => {
  const sample = firstRows(rows.slice(0, SAMPLE.rows), SAMPLE.cells);
  const { candidate, country, reference, requester } = named;
  const known = new Set([...candidate, ...country, ...reference, ...requester, ...addedColumns(header)]);
  const width = Math.max(0, ...sample.map(({ length }) => length));
  const others = Array.from({ length: width }, (_, column) => column).filter((column) => !known.has(column));
  return { header, named, sample, others, varied: variedColumns(sample) };
};

/** Whether a column has one number in several rows and no other. It may be the own one of the file's sender. */
const repeatsOne = (sample: readonly (readonly string[])[], column: number): boolean => {
  const cells = sample.map((row) => row[column] ?? '').filter((cell) => !isBlank(cell));
  return cells.length > 1 && new Set(cells).size === 1;
};

/** Whether a cell is no tax number even with a mistake: at most four digits, or two decimals. */
const isRateOrAmount = (cell: string): boolean =>
  (cell.match(/\d/g)?.length ?? 0) <= 4 || /^[^\p{L}]*\d[.,]\d\d(?!\d)/u.test(cell);

/**
 * Whether the columns with a name of a tax number or of the tax (`SIREN`, `VAT`) have fewer well-formed numbers, by themselves or
 * with the country in their row, than one without a known name: `VAT` may head amounts, beside numbers under `VAT registration EU`.
 * A column that repeats one number does not outdo one with numbers, and is outdone by one with different numbers. Numbers that their
 * country completes outdo rates and amounts only: `19`, `1.234,56`.
 */
const isOutdone = ({ header, named, sample, others, varied }: Beginning, readCountry: CountryReader): boolean => {
  const { candidate, country } = named;
  if (candidate.some((column) => isCertainName(header[column] ?? ''))) return false;
  const countryOf = (row: readonly string[]): string => {
    const cell = row[country[0] ?? -1] ?? '';
    return readCountry(cell) ?? cell;
  };
  const countNumbers = (column: number, isNumber: (cell: string, row: readonly string[]) => boolean): number =>
    sample.filter((row) => isNumber(row[column] ?? '', row)).length;
  const isComplete = (cell: string): boolean => rateVatText(cell) === 2;
  const isNational = (cell: string, row: readonly string[]): boolean =>
    isComplete(cell) || (isCountryCode(countryOf(row)) && rateVatText(cell, countryOf(row)) === 2);
  const most = Math.max(...candidate.map((column) => countNumbers(column, isNational)));
  const repeats = candidate.every((column) => repeatsOne(sample, column));
  const mayHaveNumbers = candidate.some((column) => countNumbers(column, (cell) => !isRateOrAmount(cell)) > 0);
  return others.some((column) => {
    if (!mayHaveNumbers && 2 * countNumbers(column, isNational) > sample.length) return true;
    return varied.has(column)
      ? repeats || countNumbers(column, isComplete) > most
      : most === 0 && countNumbers(column, isComplete) > 0;
  });
};

/**
 * @throws AppError INVALID_CSV when the named column repeats one number and one without a known name has different ones: every line
 * could be a check of the sender itself. Whoever means that column calls it `vat_number`.
 */
const refuseOwnNumber = (line: number, { header, named, sample, others, varied }: Beginning): void => {
  const [candidate] = named.candidate;
  if (candidate === undefined || isChosenName(header[candidate] ?? '')) return;
  if (!repeatsOne(sample, candidate)) return;
  const other = others.find((column) => varied.has(column));
  if (other === undefined) return;
  const [one, many] = [candidate, other].map((column) => nameColumn(header, column));
  throw invalidCsv(
    line,
    `Column ${one} repeats one number, and column ${many} has different ones: write “vat_number” as the heading of the column with the numbers to check.`,
  );
};

/** The rows with empty cells in some columns. */
const withoutCells = (rows: readonly ScannedRow[], columns: ReadonlySet<number>): ScannedRow[] =>
  rows.map((row) => ({ ...row, cells: row.cells.map((cell, column) => (columns.has(column) ? '' : cell)) }));

/**
 * Finds the columns of a file by the names in its first row, else by the form of the cells.
 *
 * @param rows the non-blank rows, at least one
 * @throws AppError MISSING_CANDIDATE; EMPTY_FILE when the only row is a header; INVALID_CSV with the header's line
 * when two columns have the same meaning
 */
export const layOutColumns = (rows: readonly ScannedRow[], readCountry: CountryReader): Layout => {
  const [first, ...others] = rows;
  if (first === undefined) throw new AppError('EMPTY_FILE');
  const named = nameColumns(first.cells);
  const hasNames = Object.values(named).some((columns) => columns.length > 0);
  named.country = named.country.filter((column) => holdsCountries(others, column, named.candidate, readCountry));
  const beginning = readBeginning(others, first.cells, named);
  if (named.candidate.length > 0 && isOutdone(beginning, readCountry)) named.candidate = [];
  refuseDuplicates(first, named);
  refuseOwnNumber(first.line, beginning);

  const columns: Omit<Columns, 'candidate'> = {
    country: named.country[0] ?? null,
    reference: named.reference[0] ?? null,
    requester: named.requester[0] ?? null,
  };
  const added = addedColumns(first.cells);
  const isResults = added.size > 0;
  const [namedCandidate] = named.candidate;
  if (isResults && (namedCandidate === undefined || added.has(namedCandidate))) {
    // The uploaded cells may have been corrected since, and the numbers beside them are those of before.
    const recognised = recogniseInFirst(withoutCells(others, added), columns);
    if (recognised !== null) return { columns: { ...columns, ...recognised }, foundBy: 'cells', hasHeader: true };
  }
  if (namedCandidate !== undefined) {
    const taken = new Set([...Object.values(columns), ...added]);
    const body = others.map(({ cells }) => cells);
    const found =
      columns.country ??
      findCompletingCountry(
        firstRows(others.slice(0, SAMPLE.rows), SAMPLE.cells),
        namedCandidate,
        (column) => !taken.has(column),
        readCountry,
      );
    const isForeign = found !== columns.country && found !== null && contradicts(body, namedCandidate, found);
    const country = isForeign ? null : found;
    return { columns: { candidate: namedCandidate, ...columns, country }, foundBy: 'header', hasHeader: true };
  }

  const isHeaderAlone = others.length === 0 && (hasNames || !first.cells.some((cell) => /\d/.test(cell)));
  const recognised = recogniseInFirst(hasNames || isResults ? others : rows, columns);
  if (recognised === null) throw new AppError(isHeaderAlone ? 'EMPTY_FILE' : 'MISSING_CANDIDATE');
  const hasHeader = hasNames || isResults || (rows.length > 1 && isHeaderLike(first.cells, recognised.candidate));
  return { columns: { ...columns, ...recognised }, foundBy: 'cells', hasHeader };
};
