import { AppError } from '@vat/domain/errors';
import { type BatchFile, readBatchFile } from '@vat/spreadsheet';
import { ApiError, type ErrorExtra } from '../../api/api-error.js';

/** Bytes a batch file may have. Source: contract part 1 §8. */
const MOST_BYTES = 2 * 1024 * 1024;

/** A file that was understood. */
export type ChosenFile = { file: File; batch: BatchFile };

const refusal = (code: 'FILE_TOO_LARGE', status: number): ApiError => {
  const { message } = new AppError(code);
  return new ApiError(status, code, message);
};

/** Reads a file by the rules the service itself has. Throws what the service would refuse it with, before it is sent. */
export const readChosenFile = async (file: File): Promise<ChosenFile> => {
  if (file.size > MOST_BYTES) throw refusal('FILE_TOO_LARGE', 413);
  try {
    const batch = readBatchFile(new Uint8Array(await file.arrayBuffer()));
    return { file, batch };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new ApiError(400, error.code, error.message, error.extra as ErrorExtra);
  }
};
