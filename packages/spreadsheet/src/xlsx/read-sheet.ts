import { AppError } from '@vat/domain/errors';
import { BATCH_LIMITS } from '../batch-file.js';
import type { ScannedRow } from '../scan-rows.js';
import type { Part } from './archive.js';
import type { FindFormat } from './cell-formats.js';
import { type DateSystem, isoDateText, numberText } from './cell-value.js';
import { damaged, invalidFile } from './invalid-file.js';
import { parseXml } from './read-xml.js';
import { collectText, unescapeText } from './texts.js';

/** What the cells of all sheets of a workbook refer to. */
export type SheetContext = { strings: readonly string[]; formatOf: FindFormat; dateSystem: DateSystem };

/**
 * The maximum of text in the cells of a sheet, in bytes of UTF-8 with one for the end of each cell: as much as a CSV file may have.
 * A small workbook can refer to one long text a million times.
 */
const MAX_TEXT_BYTES = 2 * 1024 * 1024;

/** The maximum of cells in a sheet, most of them empty: 100 for each row that may be read. */
const MAX_CELLS = 1_000_000;

/** The limits of spreadsheet programs. */
const [LAST_ROW, LAST_COLUMN] = [1_048_576, 16_384];
const [LETTER_A, LETTERS] = [64, 26];

const utf8 = new TextEncoder();
const ASCII = /^[\0-\x7f]*$/;
const byteLength = (text: string): number => (ASCII.test(text) ? text.length : utf8.encode(text).length);

/** Column and row of a reference such as `AB12`, from 0 and from 1; null when it is none. */
const readReference = (reference: string): { column: number; row: number } | null => {
  const [, letters, digits] = /^\$?([A-Z]{1,3})\$?(\d{1,7})$/i.exec(reference) ?? [];
  if (letters === undefined) return null;
  let column = 0;
  for (const letter of letters.toUpperCase()) column = column * LETTERS + letter.charCodeAt(0) - LETTER_A;
  return { column: column - 1, row: Number(digits) };
};

type Cell = { column: number; type: string; style: string | undefined; value: string; hasFormula: boolean };

/** The text of a cell, as its reader sees it. */
const textOf = (
  { type, style, value }: Cell,
  inline: string,
  { strings, formatOf, dateSystem }: SheetContext,
): string => {
  switch (type) {
    case 's': {
      const text = value === '' ? '' : strings[Number(value)];
      if (text === undefined) throw damaged('a cell refers to a text that does not exist');
      return text;
    }
    case 'inlineStr':
      return inline;
    case 'str':
      return unescapeText(value);
    case 'b':
      return value === '' ? '' : value === '1' || value === 'true' ? 'TRUE' : 'FALSE';
    case 'd':
      return isoDateText(value);
    case 'e':
      return value;
    default:
      return numberText(value, formatOf(style), dateSystem);
  }
};

/** Builds rows from the elements of a sheet, and limits their text. */
const collectSheetRows = (context: SheetContext, emit: (row: ScannedRow) => void) => {
  const inline = collectText();
  let row: ScannedRow | null = null;
  let cell: Cell | null = null;
  let lastRow = 0;
  let bytes = 0;
  let cells = 0;
  let inValue = false;

  const addBytes = (count: number): void => {
    bytes += count;
    if (bytes > MAX_TEXT_BYTES)
      throw new AppError('FILE_TOO_LARGE', { message: 'The cells of the sheet have more than 2 MiB of text.' });
  };
  const openRow = (given: string | undefined): void => {
    const line = given === undefined ? lastRow + 1 : Number(given);
    if (!Number.isInteger(line) || line <= lastRow || line > LAST_ROW) throw damaged('its rows are not in order');
    lastRow = line;
    row = { line, cells: [], isTooWide: false };
  };
  const openCell = (attributes: Readonly<Record<string, string>>, before: number): void => {
    const reference = attributes.r === undefined ? { column: before } : readReference(attributes.r);
    if (reference === null || reference.column < before) throw damaged('its cells are not in order');
    if (reference.column >= LAST_COLUMN) throw damaged('a row has more cells than there are columns');
    cells += 1;
    if (cells > MAX_CELLS)
      throw invalidFile(
        'The sheet has more than 1 000 000 cells, counting empty ones. Delete the empty rows and columns with formats.',
        lastRow,
      );
    cell = { column: reference.column, type: attributes.t ?? 'n', style: attributes.s, value: '', hasFormula: false };
  };
  const closeCell = (to: ScannedRow, from: Cell): void => {
    if (from.hasFormula && from.value === '' && from.type !== 'str')
      throw invalidFile(
        `Row ${to.line} has a formula without a stored result. Open the file in Excel or LibreOffice, save it, and upload it again.`,
        to.line,
      );
    const text = textOf(from, inline.take(), context);
    column = from.column + 1;
    if (text === '') return;
    if (column > BATCH_LIMITS.columns) {
      to.isTooWide = true;
      return;
    }
    addBytes(byteLength(text) + column - to.cells.length);
    while (to.cells.length < from.column) to.cells.push('');
    to.cells.push(text);
  };
  /** The column after the last cell of the row, which a cell without a reference has. */
  let column = 0;

  return {
    open: (name: string, attributes: Readonly<Record<string, string>>): void => {
      if (name === 'row') {
        openRow(attributes.r);
        column = 0;
      } else if (row && name === 'c') openCell(attributes, column);
      else if (cell) {
        if (name === 'v') inValue = true;
        else if (name === 'f') cell.hasFormula = true;
        else inline.open(name, attributes);
      }
    },
    text: (piece: string): void => {
      if (!cell) return;
      if (inValue) cell.value += piece;
      else inline.text(piece);
      if (cell.value.length > MAX_TEXT_BYTES) addBytes(cell.value.length);
    },
    close: (name: string): void => {
      if (name === 'v') inValue = false;
      else if (row && cell && name === 'c') {
        closeCell(row, cell);
        cell = null;
      } else if (row && name === 'row') {
        if (row.cells.length > 0 || row.isTooWide) emit(row);
        row = null;
      } else inline.close(name);
    },
  };
};

/**
 * The rows of a sheet that have a cell with text, with the numbers that a spreadsheet shows beside them. Cells are as their reader
 * sees them, except that numbers keep all their digits. Formulas count by their stored results; of merged cells the first one has
 * the text.
 *
 * @throws AppError INVALID_FILE for a damaged sheet and a formula without a result, FILE_TOO_LARGE for more than 2 MiB of text
 */
export function* scanSheet(part: Part, context: SheetContext): Generator<ScannedRow> {
  const rows: ScannedRow[] = [];
  for (const _ of parseXml(
    part,
    collectSheetRows(context, (row) => rows.push(row)),
  ))
    yield* rows.splice(0);
  yield* rows;
}
