import { defuseCell } from './defuse-cell.js';

export type CsvDelimiter = ',' | ';' | '\t';
export type CsvCell = string | number | boolean | null;

/**
 * Quoted: what RFC 4180 demands; the other delimiters too, because a spreadsheet set to another country splits there and
 * would run what follows; blanks at the ends, which some readers cut; and a cell that begins with ID, because Excel takes
 * a file with that at its front for another format (SYLK).
 */
const NEEDS_QUOTES = /[",;\t\r\n]|^\s|\s$|^ID/;

const writeCell = (cell: CsvCell): string => {
  const text = cell === null ? '' : defuseCell(String(cell));
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};

/** One row of a CSV file, its CR LF included. Null is an empty cell; no cell is one that a spreadsheet would run. */
export const csvRow = (cells: readonly CsvCell[], delimiter: CsvDelimiter = ','): string =>
  `${cells.map(writeCell).join(delimiter)}\r\n`;
