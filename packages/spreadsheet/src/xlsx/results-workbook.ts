import { strToU8, Zip, ZipDeflate } from 'fflate';
import type { CsvCell } from '../cells.js';
import { columnNames, type ResultsLayout, type ResultsWriter } from '../results-file.js';
import { columnLetters, escapeXml, type Fill, styleOf, workbookParts } from './workbook-parts.js';

/** Excel refuses a workbook with a longer text in a cell. */
const MAX_CELL = 32_767;

const shorten = (text: string): string =>
  text.length <= MAX_CELL ? text : `${text.slice(0, MAX_CELL - 1).toWellFormed()}…`;

/** The colours of results. Others have none. */
const FILLS: Readonly<Record<string, Readonly<Record<string, Fill>>>> = {
  valid: { true: 'good', false: 'bad' },
  verdict: { valid: 'good', invalid: 'bad', malformed: 'doubtful' },
  coverage: { covered: 'good', stale: 'doubtful', weak: 'doubtful', invalid: 'bad', missing: 'bad' },
};

/**
 * A cell as XML. Text is always a text, never a formula or a number: its cell has the format *Text*, which also keeps it a text
 * when its reader edits it.
 */
const cellXml = (at: string, value: CsvCell, fill: Fill): string => {
  if (value === null || value === '') return '';
  const style = styleOf(fill);
  if (typeof value === 'boolean') return `<c r="${at}" s="${style}" t="b"><v>${Number(value)}</v></c>`;
  if (typeof value === 'number') return `<c r="${at}"><v>${value}</v></c>`;
  const text = escapeXml(shorten(value));
  return `<c r="${at}" s="${style}" t="inlineStr"><is><t xml:space="preserve">${text}</t></is></c>`;
};

/** Every file is the same for the same results; 1980 is the first year of zip archives. */
const MODIFIED = new Date(1980, 0, 1);

/** Compresses a workbook of one sheet while it is written. */
const openZip = (parts: Readonly<Record<string, string>>, sheetName: string) => {
  const packed: Uint8Array[] = [];
  const zip = new Zip((error, chunk) => {
    if (error) throw error;
    packed.push(chunk);
  });
  const add = (name: string): ZipDeflate => {
    const file = new ZipDeflate(name);
    file.mtime = MODIFIED;
    zip.add(file);
    return file;
  };
  for (const [name, text] of Object.entries(parts)) add(name).push(strToU8(text), true);
  const sheet = add(sheetName);
  return {
    push: (text: string, isLast: boolean): void => {
      sheet.push(strToU8(text), isLast);
      if (isLast) zip.end();
    },
    take: (): Uint8Array => {
      const chunks = packed.splice(0);
      const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      return bytes;
    },
  };
};

/**
 * Writes results.xlsx row by row: the columns of results.csv, with a header row that stays in view and has filters, and coloured
 * verdicts. A cell is a text as in the uploaded file, up to the 32 767 characters that Excel allows; no cell is a formula. Memory
 * does not depend on the number of rows.
 *
 * @param layout `rows`: how many rows will be written
 */
export const resultsWorkbook = <Column extends string>({
  rows,
  ...layout
}: ResultsLayout<Column> & { rows: number }): ResultsWriter<Column> => {
  const names = columnNames(layout);
  const letters = names.map((_, column) => columnLetters(column));
  const lastColumn = letters.at(-1) ?? 'A';
  const { parts, sheetName, sheetBegin, sheetEnd } = workbookParts({ columns: names.length, lastColumn, rows });
  const zip = openZip(parts, sheetName);
  let row = 0;
  const rowXml = (cells: readonly string[]): string => {
    row += 1;
    return `<row r="${row}">${cells.join('')}</row>`;
  };
  return {
    header: () => sheetBegin + rowXml(names.map((name, column) => cellXml(`${letters[column]}1`, name, 'header'))),
    row: (cells, result) => {
      const line = row + 1;
      const original = cells
        .slice(0, layout.width)
        .map((cell, column) => cellXml(`${letters[column]}${line}`, cell, 'text'));
      const added = layout.columns.map((name, n) => {
        const value = result[name];
        const fill = FILLS[name]?.[String(value)] ?? 'text';
        return cellXml(`${letters[layout.width + n]}${line}`, value, fill);
      });
      return rowXml([...original, ...added]);
    },
    pack: (text, isLast) => {
      zip.push(isLast ? text + sheetEnd : text, isLast);
      return zip.take();
    },
  };
};
