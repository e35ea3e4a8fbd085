import type { BatchRow } from '@vat/domain';
import { AppError } from '@vat/domain/errors';

/** The encoding in which the bytes were read. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

export type Meaning = 'candidate' | 'country' | 'reference' | 'requester';

/** The zero-based column of each meaning; null when the file has none. */
export type Columns = { candidate: number } & Record<Exclude<Meaning, 'candidate'>, number | null>;

/**
 * - `blanks_removed`: unusual spaces were replaced with plain ones or removed, invisible characters were removed.
 * - `apostrophe_removed`: a leading `'`, with which people (and our results file) mark a cell as text for a spreadsheet.
 * - `formula_unwrapped`: `="0123"`, with which exporting programs prevent a spreadsheet from reading a number.
 * - `decimals_removed`: `123456789.0` (or `,00`, also of `123.456.789,00`), which would otherwise be read as a number of ten digits.
 * - `grouping_removed`: `123,456,789`.
 * - `country_name_read`: `Deutschland` became `DE`.
 * - `digits_lost`: `1.23457E+11`. This cannot be repaired: `after` equals `before`, and the line ends malformed or
 *   refused.
 */
export type RepairKind =
  | 'blanks_removed'
  | 'apostrophe_removed'
  | 'formula_unwrapped'
  | 'decimals_removed'
  | 'grouping_removed'
  | 'country_name_read'
  | 'digits_lost';

/** One repair of a cell before its use. `line` is 1-based (the row of a sheet), `column` zero-based; `cells` still contains the original. */
export type Repair = { kind: RepairKind; line: number; column: number; before: string; after: string };

type CsvSource = {
  format: 'csv';
  encoding: Encoding;
  /** Whether the file begins with a byte order mark. */
  bom: boolean;
  /** One character. `,` for a file of one column. */
  delimiter: string;
};

/** A sheet of a workbook, and the names of all its sheets in order. */
type SheetSource = { format: 'xlsx'; sheet: string; sheets: readonly string[] };

export type BatchFile = {
  source: CsvSource | SheetSource;
  /** The number of non-blank rows above the header, such as a title. They are not lines. */
  preamble: number;
  /** The header row's cells as in the file, or null when the first row is data. */
  header: readonly string[] | null;
  /** The number of cells in the widest row, including the header but not the rows above it. */
  width: number;
  columns: Columns;
  /** How the column of the numbers was recognised: by its name, or by the form of its cells. */
  foundBy: 'header' | 'cells';
  rows: readonly BatchRow[];
  /** In file order. */
  repairs: readonly Repair[];
};

/**
 * The limits of a batch file. `rows` is documented in docs/api.md. `columns` limits the results of a hostile file, in
 * which every row is as wide as the widest; empty cells beyond the limit are ignored, since Excel may write thousands
 * of them. A cell may be as long as the file.
 */
export const BATCH_LIMITS = { rows: 10_000, columns: 1_000 } as const;

/** The error INVALID_CSV with the line of the problem (1-based) and a sentence that describes it. */
export const invalidCsv = (line: number, message: string): AppError =>
  new AppError('INVALID_CSV', { message, extra: { line } });
