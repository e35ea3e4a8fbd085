import { AppError, type ErrorCode, type PlannedFile, planFile } from '@vat/domain';
import { readBatchFile } from '@vat/spreadsheet';
import { markCharset } from './mark-charset.js';

/** A file as it was sent. `requester`: the batch's, as the caller wrote it. */
export type FileToRead = {
  bytes: Uint8Array;
  charset: string | null;
  requester: string | undefined;
  createdAt: Date;
};

/**
 * What comes back from the thread. The lines and requests are JSON arrays in slices: ten thousand objects are received in one
 * turn of the receiving thread, and take it up to 60 ms; slices can be unpacked with other work in between. A refusal comes
 * as its parts, because an error would arrive without its code.
 */
export type BatchReading =
  | { kind: 'planned'; file: Omit<PlannedFile, 'plan'>; lines: string[]; requests: string[] }
  | { kind: 'refused'; code: ErrorCode; message: string; extra: Readonly<Record<string, unknown>> };

const SLICE = 500;

const inJsonSlices = (rows: readonly object[]): string[] =>
  Array.from({ length: Math.ceil(rows.length / SLICE) }, (_, n) =>
    JSON.stringify(rows.slice(n * SLICE, (n + 1) * SLICE)),
  );

/**
 * Decodes, parses and plans a batch's file. Runs in a thread of its own ({@link createBatchReader} names this function and
 * this file): two megabytes take up to a second, during which the process would answer nobody.
 */
export const readBatch = ({ bytes, charset, requester, createdAt }: FileToRead): BatchReading => {
  try {
    const file = readBatchFile(
      markCharset({ bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), charset }),
    );
    const { plan, ...planned } = planFile(file, requester, createdAt);
    const { lines, requests } = plan;
    return { kind: 'planned', file: planned, lines: inJsonSlices(lines), requests: inJsonSlices(requests) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: 'refused', code: error.code, message: error.message, extra: error.extra };
  }
};
