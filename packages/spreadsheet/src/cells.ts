/**
 * Spaces of any kind, control characters and invisible characters: zero-width ones, byte order marks, Braille blanks.
 */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** The range of printable ASCII, with which nearly every cell begins; the pattern is not needed for these. */
const FIRST_VISIBLE = 0x21;
const LAST_VISIBLE = 0x7e;

/** Whether a cell has no visible character. */
export const isBlank = (text: string): boolean => {
  if (text === '') return true;
  const first = text.charCodeAt(0);
  return !(first >= FIRST_VISIBLE && first <= LAST_VISIBLE) && BLANK.test(text);
};

/**
 * The characters with which a formula begins, tested after NFKC: it also covers their full-width, small and
 * superscript forms.
 */
const FORMULA_START = /^[=+\-@\u2212]/;

/** After these a spreadsheet may begin a cell or row; which of the three delimiters it uses depends on its locale. */
const CELL_ENDS = /[,;\t\r\n]/g;

const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/**
 * Whether a spreadsheet could execute this text as a formula. Some programs remove leading tabs, CR and LF, so the
 * text after them would come first.
 */
const isFormula = (text: string): boolean => {
  if (/^[\t\r\n]/.test(text)) return true;
  const [visible] = VISIBLE.exec(text) ?? [];
  return visible !== undefined && FORMULA_START.test(visible.normalize('NFKC'));
};

const SPACE = 0x20;
const DELETE = 0x7f;
const NO_BREAK_SPACE = 0xa0;

/**
 * Whether a code is a control character or one of the two common spaces; no pattern, because a cell may hold two
 * million of them.
 */
const isSimpleBlank = (code: number): boolean => code <= SPACE || (code >= DELETE && code <= NO_BREAK_SPACE);

/**
 * Whether the part of a cell from `from` to the next tab or line break could be executed as a formula, after its
 * leading quotes are removed. A tab that is the delimiter is skipped as a blank, since programs with another delimiter
 * read it so.
 */
const isFormulaInside = (text: string, from: number, delimiter: string): boolean => {
  let at = from;
  while (text[at] === '"') at += 1;
  if (text[at] === '\t') return true;
  for (at = from; at < text.length; ) {
    const code = text.codePointAt(at) as number;
    const character = String.fromCodePoint(code);
    if ('\t\r\n'.includes(character) && character !== delimiter) return false;
    if (character !== '"' && !isSimpleBlank(code) && !isBlank(character))
      return FORMULA_START.test(character.normalize('NFKC'));
    at += character.length;
  }
  return false;
};

/**
 * Makes a cell that no spreadsheet executes as a formula. A cell that begins with `=`, `+`, `-` or `@`, also after
 * blanks, or with a tab or line break gets a leading `'`, the usual mark for text in spreadsheets. Negative amounts
 * and telephone numbers are no exception, because spreadsheets differ in what they execute. A spreadsheet with
 * another delimiter than `delimiter` ignores the quotes of a cell that is not the first in its row, and splits it at
 * its own delimiter and at line breaks; formulas at these places get a `'` too. Other cells are unchanged, and the
 * function is idempotent.
 */
export const defuseCell = (cell: string, delimiter: string): string => {
  const text = isFormula(cell) ? `'${cell}` : cell;
  return text.replace(CELL_ENDS, (found, at: number) =>
    found !== delimiter && isFormulaInside(text, at + 1, delimiter) ? `${found}'` : found,
  );
};

export type CsvDelimiter = ',' | ';' | '\t';
export type CsvCell = string | number | boolean | null;

/**
 * Cells that are quoted: those of RFC 4180; those with another delimiter, because a spreadsheet with another locale
 * splits there; those with outer blanks, which some readers trim; and those that begin with ID, because Excel reads a
 * file that begins so as another format (SYLK).
 */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$|^ID/;

/** A quote after one of these begins a cell in a spreadsheet with another delimiter. */
const ENDS_OPEN = /[,;\t\r\n]$/;

const writeCell = (cell: CsvCell, delimiter: CsvDelimiter, isLast: boolean): string => {
  if (cell === null || cell === '') return '';
  let text = defuseCell(String(cell), delimiter);
  // Otherwise that cell would begin with the CR at the end of the row.
  if (isLast && ENDS_OPEN.test(text) && !text.endsWith(delimiter)) text += "'";
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Cells joined by the delimiter, without one after the last: a part of a row. */
export const csvCells = (cells: readonly CsvCell[], delimiter: CsvDelimiter): string =>
  cells.map((cell) => writeCell(cell, delimiter, false)).join(delimiter);

/**
 * One row of a CSV file, including its CR LF. Null is an empty cell. No spreadsheet executes a cell as a formula,
 * whichever of the three delimiters it uses.
 */
export const csvRow = (cells: readonly CsvCell[], delimiter: CsvDelimiter = ','): string =>
  `${cells.map((cell, column) => writeCell(cell, delimiter, column === cells.length - 1)).join(delimiter)}\r\n`;

/** Removes blanks and invisible characters at both ends of a text. Linear, unlike a pattern anchored at the end. */
export const trimBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charAt(start))) start += 1;
  while (end > start && isBlank(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
};

const UMLAUTS: readonly (readonly [string, string])[] = [
  ['ä', 'ae'],
  ['ö', 'oe'],
  ['ü', 'ue'],
];

/** A name as programs without umlauts write it: `Länderkennzeichen` → `laenderkennzeichen`; in lower case. */
export const transcribeUmlauts = (name: string): string =>
  UMLAUTS.reduce((text, [umlaut, letters]) => text.replaceAll(umlaut, letters), name.normalize('NFC').toLowerCase());

/**
 * Folds a name for comparison, without case, accents, spaces and punctuation: `N° T.V.A.` → `ntva`, `Země` → `zeme`,
 * `ΑΦΜ` → `αφμ`.
 */
export const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
    // Lower case turns a Greek sigma into its final form depending on the next character.
    .replaceAll('ς', 'σ');
