import { AppError } from '@vat/domain/errors';

/** The error INVALID_CSV with the line to look at (1-based) and a sentence that says what is wrong there. */
export const invalidCsv = (line: number, message: string): AppError =>
  new AppError('INVALID_CSV', { message, extra: { line } });
