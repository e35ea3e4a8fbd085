import { foldName } from './fold-name.js';
import { isBlank } from './is-blank.js';

/** What people write where a number is missing. */
const PLACEHOLDERS: ReadonlySet<string> = new Set(['none', 'null', 'nan', 'unknown', 'unbekannt', 'inconnu', 'keine']);

/** Amounts, dates, telephone numbers: a column's name has a letter. */
const isNumeric = (cell: string): boolean => /\d/.test(cell) && !/\p{L}/u.test(cell);

/**
 * Whether the first row names columns in words we do not know, seen from the column whose other cells are numbers: its
 * cell is a word without a digit (and not "n/a"), and no cell of the row is an amount or a date.
 */
export const isHeaderLike = (row: readonly string[], candidate: number): boolean => {
  const name = row[candidate] ?? '';
  if (isBlank(name) || /\d/.test(name)) return false;
  const folded = foldName(name);
  if (folded.length < 3 || PLACEHOLDERS.has(folded)) return false;
  return !row.some(isNumeric);
};
