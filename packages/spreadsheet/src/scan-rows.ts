import { BATCH_LIMITS, invalidCsv } from './batch-file.js';

const CR = 13;
const LF = 10;

/**
 * Counts the line breaks in `text`: CR LF, a lone CR or a lone LF, each once. A loop, because a list of two million
 * matches needs too much memory.
 */
export const countBreaks = (text: string): number => {
  let breaks = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === LF || (code === CR && text.charCodeAt(at + 1) !== LF)) breaks += 1;
  }
  return breaks;
};

/** A row of the text; `line` is the line in which it begins, 1-based. Cells beyond the column limit are dropped. */
export type ScannedRow = { line: number; cells: string[]; isTooWide: boolean };

/** `end` is the index after the cell: that of a delimiter, a line break or the end of the text. */
type ScannedCell = { value: string; end: number; breaks: number };

const isBreak = (code: number) => code === CR || code === LF;

const scanPlain = (text: string, from: number, delimiter: number): ScannedCell => {
  let end = from;
  for (; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === delimiter || isBreak(code)) break;
  }
  return { value: text.slice(from, end), end, breaks: 0 };
};

const scanQuoted = (text: string, from: number, delimiter: number, line: number): ScannedCell => {
  let close = text.indexOf('"', from + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close === -1) throw invalidCsv(line, `The quote that opens on line ${line} is never closed.`);

  let end = close + 1;
  while (text[end] === ' ') end += 1;
  const next = text.charCodeAt(end);
  if (end < text.length && next !== delimiter && !isBreak(next)) {
    throw invalidCsv(
      line,
      `After the cell whose quote opens on line ${line} comes more text: a quote inside it is not doubled.`,
    );
  }
  const value = text.slice(from + 1, close);
  return { value: value.replaceAll('""', '"'), end, breaks: countBreaks(value) };
};

/** Where a scan begins, and the column limit, which is that of uploaded files by default. */
type ScanOptions = { at?: number; line?: number; maxColumns?: number };

/**
 * The rows of a CSV text without empty lines; a line of only delimiters is a row. Lines end with CR LF, CR or LF,
 * also mixed. A quote has a meaning only at the start of a cell; elsewhere it is an ordinary character, as in Excel.
 * Linear in the length of the text.
 *
 * csv-parse is not used, because it counts a CR LF inside quotes twice, reports the end of the file for a quote that
 * is not closed, and reads malformed quotes as text when quotes are allowed inside a cell.
 *
 * @param delimiter one character
 * @throws AppError INVALID_CSV with the line where a quote opens that is never closed or not doubled
 */
export function* scanRows(text: string, delimiter: string, options: ScanOptions = {}): Generator<ScannedRow> {
  const separator = delimiter.charCodeAt(0);
  const { maxColumns = BATCH_LIMITS.columns } = options;
  let { at = 0, line = 1 } = options;
  for (; at < text.length; line += 1) {
    if (!isBreak(text.charCodeAt(at))) {
      const row: ScannedRow = { line, cells: [], isTooWide: false };
      for (let column = 0; ; column += 1) {
        const cell = text[at] === '"' ? scanQuoted(text, at, separator, line) : scanPlain(text, at, separator);
        // Beyond the column limit empty cells are ignored.
        if (column < maxColumns) row.cells.push(cell.value);
        else if (cell.value !== '') row.isTooWide = true;
        at = cell.end;
        line += cell.breaks;
        if (text.charCodeAt(at) !== separator) break;
        at += 1;
      }
      yield row;
    }
    at += text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? 2 : 1;
  }
}

/** The line of a byte in a file, 1-based, in any encoding in which line breaks are single bytes. */
export const lineAt = (bytes: Uint8Array, at: number): number =>
  countBreaks(new TextDecoder('latin1').decode(bytes.subarray(0, at))) + 1;
