import { isBlank } from './is-blank.js';

/** Also what a spreadsheet or a person in between turns into these: full-width, small and superscript forms, the minus sign. */
const RUNS = /^[=+\-@\u2212]/;

/** Where a cell or a row begins for some spreadsheet; which of the three delimiters does is set by its country. */
const BEGINNINGS = /[,;\t\r\n]/g;

/** The first character that a person sees. */
const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a cell of this text would run. Tab, CR and LF are cut off by some programs, so whatever follows them would come first. */
const wouldRun = (text: string): boolean => {
  if (/^[\t\r\n]/.test(text)) return true;
  const [visible] = VISIBLE.exec(text) ?? [];
  return visible !== undefined && RUNS.test(visible.normalize('NFKC'));
};

const SPACE = 0x20;
const DELETE = 0x7f;
const NO_BREAK_SPACE = 0xa0;

/** Control characters and the two common spaces, without a pattern: a cell may hold two million of them. */
const isPlainlyBlank = (code: number): boolean => code <= SPACE || (code >= DELETE && code <= NO_BREAK_SPACE);

/**
 * The same of what lies inside a cell from an index on, up to where it would be split again and is looked at by itself; it may
 * begin with quotes that are taken off. A tab in a file of tabs is not looked at: it is a blank for whoever splits elsewhere.
 */
const wouldRunInside = (text: string, from: number, delimiter: string): boolean => {
  let at = from;
  while (text[at] === '"') at += 1;
  if (text[at] === '\t') return true;
  for (at = from; at < text.length; ) {
    const code = text.codePointAt(at) as number;
    const character = String.fromCodePoint(code);
    if ('\t\r\n'.includes(character) && character !== delimiter) return false;
    if (character !== '"' && !isPlainlyBlank(code) && !isBlank(character))
      return RUNS.test(character.normalize('NFKC'));
    at += character.length;
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
    found !== delimiter && wouldRunInside(text, at + 1, delimiter) ? `${found}'` : found,
  );
};
