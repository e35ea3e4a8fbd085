import { isBlank } from './is-blank.js';

/** Also what a spreadsheet or a person in between turns into these: full-width, small and superscript forms, the minus sign. */
const RUNS = /^[=+\-@\u2212]/;

/** Where a cell or a row begins for some spreadsheet; which of the three delimiters does is set by its country. */
const BEGINNINGS = /[,;\t\r\n]/g;

/** Whether a cell of this text would run. Tab, CR and LF are cut off by some programs, so whatever follows them would come first. */
const wouldRun = (text: string): boolean => {
  if (/^[\t\r\n]/.test(text)) return true;
  for (const character of text) if (!isBlank(character)) return RUNS.test(character.normalize('NFKC'));
  return false;
};

/**
 * The same of what lies inside a cell, up to where it would be split again and is looked at by itself; it may begin with quotes
 * that are taken off. A tab in a file of tabs is not looked at: it is a blank for whoever splits elsewhere.
 */
const wouldRunInside = (text: string, delimiter: string): boolean => {
  if (/^"*\t/.test(text)) return true;
  for (const character of text) {
    if ('\t\r\n'.includes(character) && character !== delimiter) return false;
    if (character !== '"' && !isBlank(character)) return RUNS.test(character.normalize('NFKC'));
  }
  return false;
};

/**
 * A cell that no spreadsheet would run: one that begins with `=`, `+`, `-` or `@`, behind blanks too, or with a tab or
 * line break, gets a leading `'`, which is how people enter such text by hand. Negative amounts and telephone numbers are
 * no exception (contract part 2 §5 and fault 15): which of them a spreadsheet runs is its secret. A spreadsheet that is set
 * to another delimiter than `delimiter` sees no quotes around a cell that does not begin its row, and splits it at its own
 * delimiter and at line breaks; what would run then gets its `'` there. Other cells stay unchanged, and defusing twice is
 * defusing once.
 */
export const defuseCell = (cell: string, delimiter: string): string => {
  const text = wouldRun(cell) ? `'${cell}` : cell;
  return text.replace(BEGINNINGS, (found, at: number) =>
    found !== delimiter && wouldRunInside(text.slice(at + 1), delimiter) ? `${found}'` : found,
  );
};
