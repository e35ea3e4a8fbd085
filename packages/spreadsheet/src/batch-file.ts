import { AppError } from '@vat/domain/errors';

/** How the bytes were read. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** What a column can mean to a batch. */
export type Meaning = 'candidate' | 'country' | 'reference' | 'requester';

/** Zero-based column of each meaning; null where the file has none. */
export type Columns = { candidate: number } & Record<Exclude<Meaning, 'candidate'>, number | null>;

/**
 * - `blanks_removed`: no-break and other odd spaces became plain ones or went, invisible characters went.
 * - `apostrophe_removed`: a leading `'`, by which people (and our results file) tell a spreadsheet that this is text.
 * - `formula_unwrapped`: `="0123"`, by which exporting programs keep a spreadsheet from reading a number.
 * - `decimals_removed`: `123456789.0` (or `,00`), which would otherwise be read as a number of ten digits.
 * - `grouping_removed`: `123,456,789`.
 * - `country_name_read`: `Deutschland` became `DE`.
 * - `digits_lost`: `1.23457E+11`. Nothing can repair that; `after` equals `before`, and the line ends malformed or refused.
 */
export type RepairKind =
  | 'blanks_removed'
  | 'apostrophe_removed'
  | 'formula_unwrapped'
  | 'decimals_removed'
  | 'grouping_removed'
  | 'country_name_read'
  | 'digits_lost';

/** One thing that was done to a cell before it was used. `line` is 1-based, `column` zero-based; `cells` keeps the original. */
export type Repair = { kind: RepairKind; line: number; column: number; before: string; after: string };

/** One row of the file that is not blank. */
export type BatchRow = {
  /** The line of the file in which the row begins, 1-based, as a text editor counts: a `sep=` line and blank lines count. */
  line: number;
  /** The cells as the file has them, as many as the row has (at most `width`). */
  cells: readonly string[];
  /** The number after repairs, `''` when the cell is empty or missing. Not normalised: that is the domain's. */
  candidate: string;
  /** After repairs; null when there is no such column or the cell is blank. The same for the other two. */
  country: string | null;
  reference: string | null;
  requester: string | null;
};

/** A batch file that was understood. */
export type BatchFile = {
  encoding: Encoding;
  /** Whether a byte order mark said so. */
  bom: boolean;
  /** One character. `,` for a file of one column. */
  delimiter: string;
  /** Rows above the header that are not blank: a title, say. They are no lines. */
  preamble: number;
  /** The header row's cells as the file has them, or null when the first row is data. */
  header: readonly string[] | null;
  /** Cells of the widest row, the header included, what is above it not. */
  width: number;
  columns: Columns;
  /** How the column of the numbers was recognised: by its name, or by what its cells look like. */
  foundBy: 'header' | 'cells';
  rows: readonly BatchRow[];
  /** In file order. */
  repairs: readonly Repair[];
};

/**
 * What a batch file may hold. `rows` is the contract's (part 2 §5). `columns` only keeps a hostile file from exploding, whose
 * results have every row as wide as the widest: more columns than anybody means (what lies further right counts only when
 * it is not empty, since Excel likes to write thousands of empty cells). A cell may be as long as the file.
 */
export const BATCH_LIMITS = { rows: 10_000, columns: 1_000 } as const;

/** The error INVALID_CSV with the line to look at (1-based) and a sentence that says what is wrong there. */
export const invalidCsv = (line: number, message: string): AppError =>
  new AppError('INVALID_CSV', { message, extra: { line } });
