import { AppError, type ErrorCode, type PlannedFile, planFile } from '@vat/domain';
import { readBatchFile } from '@vat/spreadsheet';
import { markCharset } from './mark-charset.js';

/** A file as it was sent. `requester`: that of the batch, as the caller wrote it. */
export type FileToRead = {
  bytes: Uint8Array;
  charset: string | null;
  requester: string | undefined;
  createdAt: Date;
};

/**
 * The result that the thread sends back. The lines and requests of a plan are texts: receiving ten thousand objects would block
 * the event loop for up to 60 ms. A refusal is sent as its fields, because an error object loses its code between threads.
 */
export type BatchReading =
  | { kind: 'planned'; file: PlannedFile }
  | { kind: 'refused'; code: ErrorCode; message: string; extra: Readonly<Record<string, unknown>> };

/**
 * Decodes, parses and plans a batch's file. Runs in a separate thread ({@link createBatchReader} refers to this function and
 * this file by name): two megabytes take up to a second, during which the process could not answer other calls.
 */
export const readBatch = ({ bytes, charset, requester, createdAt }: FileToRead): BatchReading => {
  try {
    const file = readBatchFile(
      markCharset({ bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), charset }),
    );
    return { kind: 'planned', file: planFile(file, requester, createdAt) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: 'refused', code: error.code, message: error.message, extra: error.extra };
  }
};
