import { type CsvCell, type CsvDelimiter, csvCells, csvRow } from './cells.js';

/** The columns that a results file adds after those of the uploaded file, in order. */
export const RESULT_COLUMNS = [
  'vat_number',
  'valid',
  'verdict',
  'name',
  'address',
  'consultation_number',
  'check_id',
  'error',
] as const;

/** The columns that the results file of a coverage adds. */
export const COVERAGE_COLUMNS = [
  'coverage',
  'vat_number_read',
  'supply_date_read',
  'check_id',
  'checked_at',
  'age_days',
  'evidence_grade',
  'error',
] as const;

/** The result of a line in the columns of results.csv. Null when there is no value (yet). */
export type LineResult = {
  vat_number: string | null;
  valid: boolean | null;
  verdict: string | null;
  name: string | null;
  address: string | null;
  consultation_number: string | null;
  check_id: string | null;
  error: string | null;
};

/** The format of a results file and the shape of the uploaded file. */
type ResultsLayout<Column extends string> = {
  /** The names of the added columns. */
  columns: readonly Column[];
  /** The uploaded file's header; null when it had none. */
  header: readonly string[] | null;
  /** The number of cells in the uploaded file's widest row. */
  width: number;
  delimiter?: CsvDelimiter;
  /** Whether the file begins with a byte order mark, by which Excel recognises UTF-8. */
  bom?: boolean;
};

/**
 * Writes results.csv row by row, so that it can be streamed: `header()` once, then `row()` for each line in file
 * order. Each result is one row with its CR LF. The original cells come first, unchanged unless a spreadsheet would
 * execute them, and padded to the widest row, so that the added columns are aligned; a column without a header is
 * named `column_N`.
 */
export const resultsFile = <Column extends string>({
  columns,
  header,
  width,
  delimiter = ',',
  bom = false,
}: ResultsLayout<Column>) => {
  const rowOf = (cells: readonly string[], added: readonly CsvCell[]): string => {
    // A narrow row is padded in one operation: a wide file of 50 KB can have ten million missing cells.
    const missing = delimiter.repeat(Math.max(0, width - cells.length));
    const original = csvCells(cells.slice(0, width), delimiter) + (cells.length === 0 ? missing.slice(1) : missing);
    return (width === 0 ? '' : original + delimiter) + csvRow(added, delimiter);
  };
  return {
    header: (): string => {
      const names = Array.from({ length: width }, (_, column) => header?.[column] ?? `column_${column + 1}`);
      return (bom ? '\uFEFF' : '') + csvRow([...names, ...columns], delimiter);
    },
    row: (cells: readonly string[], result: Readonly<Record<Column, CsvCell>>): string =>
      rowOf(
        cells,
        columns.map((column) => result[column]),
      ),
  };
};

/** The advice for a file with an uncertain encoding, in the words of a spreadsheet's menu. */
export const SAVE_AS = 'Save the file as “CSV UTF-8”.';
