import { z } from 'zod';
import { printable } from './text.js';

/** The media type of Excel workbooks (.xlsx). */
export const XLSX_TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet';

/** The field that chooses a sheet of an uploaded workbook. Spreadsheet programs allow names of 31 characters. */
export const sheetName = () =>
  printable(100)
    .optional()
    .describe('The name of the sheet of an .xlsx file. Without it the first sheet with data is read.');

/** The part of a form with the file. The file itself is validated while it is read. */
export const filePart = () =>
  z.file().meta({
    openapi: {
      type: 'string',
      format: 'binary',
      description: 'The CSV file or Excel workbook (.xlsx), at most 2 MiB and 10 000 rows.',
    },
  });

/** The errors of every upload of a file of numbers. */
export const UPLOAD_ERRORS = [
  'EMPTY_FILE',
  'TOO_MANY_ROWS',
  'INVALID_CSV',
  'INVALID_FILE',
  'MISSING_CANDIDATE',
  'FILE_TOO_LARGE',
  'ACCOUNT_DISABLED',
  'TOO_MANY_BATCHES',
  'BATCH_LINE_LIMIT',
] as const;
