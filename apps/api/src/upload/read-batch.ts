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
 * The result that the thread sends back. Lines and requests are JSON arrays in chunks: receiving ten thousand objects would
 * block the event loop for up to 60 ms, while chunks are parsed one by one. A refusal is sent as its fields, because an error
 * object loses its code between threads.
 */
export type BatchReading =
  | { kind: 'planned'; file: Omit<PlannedFile, 'plan'>; lines: string[]; requests: string[] }
  | { kind: 'refused'; code: ErrorCode; message: string; extra: Readonly<Record<string, unknown>> };

const CHUNK_ROWS = 500;

const inJsonChunks = (rows: readonly object[]): string[] =>
  Array.from({ length: Math.ceil(rows.length / CHUNK_ROWS) }, (_, n) =>
    JSON.stringify(rows.slice(n * CHUNK_ROWS, (n + 1) * CHUNK_ROWS)),
  );

/**
 * Decodes, parses and plans a batch's file. Runs in a separate thread ({@link createBatchReader} refers to this function and
 * this file by name): two megabytes take up to a second, during which the process could not answer other calls.
 */
export const readBatch = ({ bytes, charset, requester, createdAt }: FileToRead): BatchReading => {
  try {
    const file = readBatchFile(
      markCharset({ bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), charset }),
    );
    const { plan, ...planned } = planFile(file, requester, createdAt);
    const { lines, requests } = plan;
    return { kind: 'planned', file: planned, lines: inJsonChunks(lines), requests: inJsonChunks(requests) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: 'refused', code: error.code, message: error.message, extra: error.extra };
  }
};
