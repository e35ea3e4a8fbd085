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
export type LineResult = { valid: boolean | null } & Record<
  Exclude<(typeof RESULT_COLUMNS)[number], 'valid'>,
  string | null
>;

/** The added columns and the shape of the uploaded file. */
export type ResultsLayout<Column extends string> = {
  columns: readonly Column[];
  /** The uploaded file's header; null when it had none. */
  header: readonly string[] | null;
  /** The number of cells in the uploaded file's widest row. */
  width: number;
};

type CsvForm = {
  delimiter?: CsvDelimiter;
  /** Whether the file begins with a byte order mark, by which Excel recognises UTF-8. */
  bom?: boolean;
};

/** Writes a file of results row by row, so that it can be streamed. */
export type ResultsWriter<Column extends string> = {
  /** The beginning of the file with its header row. */
  header: () => string;
  row: (cells: readonly string[], result: Readonly<Record<Column, CsvCell>>) => string;
  /** Turns the next texts of `header` and `row` into what is sent, which may be empty; at the end of the file all of it. */
  pack: (text: string, isLast: boolean) => string | Uint8Array;
};

/** The names of all columns of a results file. One without a header is named `column_N`. */
export const columnNames = <Column extends string>({ columns, header, width }: ResultsLayout<Column>): string[] => [
  ...Array.from({ length: width }, (_, column) => header?.[column] ?? `column_${column + 1}`),
  ...columns,
];

/**
 * Writes results.csv row by row, so that it can be streamed: `header()` once, then `row()` for each line in file
 * order. Each result is one row with its CR LF. The original cells come first, unchanged unless a spreadsheet would
 * execute them, and padded to the widest row, so that the added columns are aligned.
 */
export const resultsFile = <Column extends string>({
  delimiter = ',',
  bom = false,
  ...layout
}: ResultsLayout<Column> & CsvForm): ResultsWriter<Column> => {
  const { columns, width } = layout;
  const rowOf = (cells: readonly string[], added: readonly CsvCell[]): string => {
    // A narrow row is padded in one operation: a wide file of 50 KB can have ten million missing cells.
    const missing = delimiter.repeat(Math.max(0, width - cells.length));
    const original = csvCells(cells.slice(0, width), delimiter) + (cells.length === 0 ? missing.slice(1) : missing);
    return (width === 0 ? '' : original + delimiter) + csvRow(added, delimiter);
  };
  return {
    header: () => (bom ? '\uFEFF' : '') + csvRow(columnNames(layout), delimiter),
    row: (cells, result) =>
      rowOf(
        cells,
        columns.map((column) => result[column]),
      ),
    pack: (text) => text,
  };
};

/** The advice for a file with an uncertain encoding, in the words of a spreadsheet's menu. */
export const SAVE_AS = 'Save the file as “CSV UTF-8”.';
