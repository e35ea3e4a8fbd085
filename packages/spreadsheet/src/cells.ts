/** Spaces of any kind, control characters, and what nobody sees: zero-width characters, byte order marks, Braille blanks. */
const BLANK = /^[\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u;

/** The printable characters of ASCII, which nearly every cell begins with: the pattern need not be tried on them. */
const FIRST_VISIBLE = 0x21;
const LAST_VISIBLE = 0x7e;

/** Whether a person who looks at the cell sees nothing. */
export const isBlank = (text: string): boolean => {
  if (text === '') return true;
  const first = text.charCodeAt(0);
  return !(first >= FIRST_VISIBLE && first <= LAST_VISIBLE) && BLANK.test(text);
};

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

export type CsvDelimiter = ',' | ';' | '\t';
export type CsvCell = string | number | boolean | null;

/**
 * Quoted: what RFC 4180 demands; the other delimiters too, because a spreadsheet set to another country splits there; blanks
 * at the ends, which some readers cut; and a cell that begins with ID, because Excel takes a file with that at its front for
 * another format (SYLK).
 */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$|^ID/;

/** A quote behind one of these begins a cell for a spreadsheet that is set to another delimiter. */
const ENDS_OPEN = /[,;\t\r\n]$/;

const writeCell = (cell: CsvCell, delimiter: CsvDelimiter, isLast: boolean): string => {
  if (cell === null || cell === '') return '';
  let text = defuseCell(String(cell), delimiter);
  // That cell would begin with the CR that ends the row.
  if (isLast && ENDS_OPEN.test(text) && !text.endsWith(delimiter)) text += "'";
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** Cells with the delimiter between them, and none behind the last: for a row that is put together of parts. */
export const csvCells = (cells: readonly CsvCell[], delimiter: CsvDelimiter): string =>
  cells.map((cell) => writeCell(cell, delimiter, false)).join(delimiter);

/**
 * One row of a CSV file, its CR LF included. Null is an empty cell; no cell is one that a spreadsheet would run, whichever
 * of the three delimiters it splits at.
 */
export const csvRow = (cells: readonly CsvCell[], delimiter: CsvDelimiter = ','): string =>
  `${cells.map((cell, column) => writeCell(cell, delimiter, column === cells.length - 1)).join(delimiter)}\r\n`;

/** The text without blanks of any kind, visible to nobody, at its ends. Linear, unlike a pattern anchored at the end. */
export const trimBlanks = (text: string): string => {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charAt(start))) start += 1;
  while (end > start && isBlank(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
};

/**
 * What remains of a name when case, accents, spaces and punctuation do not count: `N° T.V.A.` → `ntva`, `Země` → `zeme`,
 * `ΑΦΜ` → `αφμ`. Names are equal when their folds are.
 */
export const foldName = (name: string): string =>
  name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')
    // Lower case gives a Greek sigma its final form or not, depending on what follows.
    .replaceAll('ς', 'σ');
