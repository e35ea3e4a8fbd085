import { defuseCell } from './defuse-cell.js';

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
