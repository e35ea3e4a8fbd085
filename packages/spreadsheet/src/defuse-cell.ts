import { isBlank } from './is-blank.js';

/** Tab, CR and LF are cut off by some programs, so whatever follows them would come first. */
const AT_THE_FRONT = /^[\t\r\n]/;
/** Also what a spreadsheet or a person in between turns into these: full-width, small and superscript forms, the minus sign. */
const RUNS = /^[=+\-@\u2212]/;

/**
 * A cell that a spreadsheet would not run: one that begins with `=`, `+`, `-` or `@`, behind blanks too, or with a tab or
 * line break, gets a leading `'`, which is how people enter such text by hand. Negative amounts and telephone numbers are
 * no exception (contract part 2 §5 and fault 15): which of them a spreadsheet runs is its secret. Other cells stay
 * unchanged, and defusing twice is defusing once.
 */
export const defuseCell = (cell: string): string => {
  if (AT_THE_FRONT.test(cell)) return `'${cell}`;
  for (const character of cell) {
    if (!isBlank(character)) return RUNS.test(character.normalize('NFKC')) ? `'${cell}` : cell;
  }
  return cell;
};
