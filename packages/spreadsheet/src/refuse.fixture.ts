import { AppError, type ErrorCode } from '@vat/domain/errors';

/** The error with which a file is refused. */
export const refuse = (read: () => unknown): { code: ErrorCode; line: unknown; message: string } => {
  try {
    read();
  } catch (error) {
    if (error instanceof AppError) return { code: error.code, line: error.extra.line, message: error.message };
    throw error;
  }
  throw new Error('was read');
};
