import { AppError } from '@vat/domain/errors';

/** What helps with a workbook that cannot be read, in the words of a spreadsheet's menu. */
export const SAVE_AGAIN = 'Open it in Excel or LibreOffice and save it again as .xlsx, or as CSV (UTF-8).';

/** The error INVALID_FILE with a sentence that describes it, and the row of the problem; 1 for the file as a whole. */
export const invalidFile = (message: string, row = 1, cause?: unknown): AppError =>
  new AppError('INVALID_FILE', { message, extra: { line: row }, cause });

/** The error of a workbook whose parts contradict each other or end early. `what`: an unfinished sentence for support. */
export const damaged = (what: string, cause?: unknown): AppError =>
  invalidFile(`The workbook is damaged or incomplete (${what}). ${SAVE_AGAIN}`, 1, cause);

/**
 * Runs `work` on a file, and names the errors of a workbook's rows as those of a workbook. Rules that do not know the format of
 * their rows throw INVALID_CSV.
 */
export const namingErrors = <T>(format: 'csv' | 'xlsx', work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (format !== 'xlsx' || !(error instanceof AppError) || error.code !== 'INVALID_CSV') throw error;
    throw new AppError('INVALID_FILE', { message: error.message, extra: error.extra, cause: error });
  }
};
