import { type CsvCell, type CsvDelimiter, csvCells, csvRow } from './cells.js';

/** The columns that a results file adds behind those of the uploaded file, in order. Source: contract part 2 §5. */
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

/** What became of a line, in the words of results.csv. Null where there is nothing (yet). */
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

/** How a results file is written, and the shape of the file it belongs to. */
type ResultsLayout = {
  /** The uploaded file's header, null when it had none. */
  header: readonly string[] | null;
  /** Cells of the uploaded file's widest row. */
  width: number;
  delimiter?: CsvDelimiter;
  /** Begins with a byte order mark, by which Excel knows UTF-8. */
  bom?: boolean;
};

/**
 * Writes results.csv a piece at a time, so that it can be streamed: `header()` once, then `row()` for each line in file
 * order. Each piece is one row with its CR LF. The original cells come first, unchanged unless a spreadsheet would run
 * them, and filled up to the widest row, so that ours stand in the same columns throughout; a column without a header is
 * called `column_N`. Source: contract part 2 §5.
 */
export const resultsFile = ({ header, width, delimiter = ',', bom = false }: ResultsLayout) => {
  const rowOf = (cells: readonly string[], added: readonly CsvCell[]): string => {
    // A narrow row of a wide file is filled up in one piece: a file of 50 KB can have ten million missing cells.
    const missing = delimiter.repeat(Math.max(0, width - cells.length));
    const original = csvCells(cells.slice(0, width), delimiter) + (cells.length === 0 ? missing.slice(1) : missing);
    return (width === 0 ? '' : original + delimiter) + csvRow(added, delimiter);
  };
  return {
    header: (): string => {
      const names = Array.from({ length: width }, (_, column) => header?.[column] ?? `column_${column + 1}`);
      return (bom ? '\uFEFF' : '') + csvRow([...names, ...RESULT_COLUMNS], delimiter);
    },
    row: (cells: readonly string[], result: LineResult): string =>
      rowOf(
        cells,
        RESULT_COLUMNS.map((column) => result[column]),
      ),
  };
};

/** What to do about a file in an encoding that we cannot be sure of, in the words of a spreadsheet's menu. */
export const SAVE_AS = 'Save the file as “CSV UTF-8”.';
