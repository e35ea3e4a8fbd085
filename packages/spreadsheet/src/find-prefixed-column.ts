import { isBlank } from './is-blank.js';
import { isPrefixedText } from './is-prefixed-text.js';

/**
 * The column of the numbers in a file none of whose numbers is well-formed: most of its cells begin as a number does. The
 * leftmost of those with the most such cells; null when there is none. The first row may be a header that we cannot read.
 *
 * @param taken columns that are named as something else
 */
export const findPrefixedColumn = (
  rows: readonly (readonly string[])[],
  taken: readonly (number | null)[],
): number | null => {
  const prefixed: number[] = [];
  const others: number[] = [];
  for (const [at, row] of rows.entries()) {
    for (const [column, cell] of row.entries()) {
      if (isPrefixedText(cell)) prefixed[column] = (prefixed[column] ?? 0) + 1;
      else if ((at > 0 || rows.length === 1) && !isBlank(cell)) others[column] = (others[column] ?? 0) + 1;
    }
  }
  let best: number | null = null;
  for (const [column, count = 0] of prefixed.entries()) {
    if (count <= (others[column] ?? 0) || taken.includes(column)) continue;
    if (best === null || count > (prefixed[best] ?? 0)) best = column;
  }
  return best;
};
