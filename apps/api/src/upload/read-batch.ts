import {
  AppError,
  type CoveragePlan,
  type ErrorCode,
  type PlannedFile,
  planCoverage,
  planFile,
  storableText,
} from '@vat/domain';
import { isArchive, namingErrors, readBatchFile, readCoverageFile } from '@vat/spreadsheet';
import { lowerPriority } from '../lower-priority.js';
import { markCharset } from './mark-charset.js';

/** `sheet`: the name of the sheet to read, for a workbook. */
type SentFile = { bytes: Uint8Array; charset: string | null; sheet: string | undefined; createdAt: Date };

/** A file as it was sent. `requester`: that of the batch, as the caller wrote it. */
export type FileToRead = SentFile & { requester: string | undefined };

/** A file of supplies as it was sent. `withGaps`: whether to plan a batch of its numbers. */
export type CoverageToRead = SentFile & { withGaps: boolean };

/** A refusal is sent as its fields, because an error object loses its code between threads. */
export type Refusal = { kind: 'refused'; code: ErrorCode; message: string; extra: Readonly<Record<string, unknown>> };

/**
 * The result that the thread sends back. The lines and requests of a plan are texts: receiving ten thousand objects would block
 * the event loop for up to 60 ms.
 */
export type BatchReading = { kind: 'planned'; file: PlannedFile } | Refusal;

/** The result for a file of supplies. `width`: cells of the widest row. `lines`: JSON arrays, which are parsed one by one. */
export type CoverageReading =
  | {
      kind: 'planned';
      file: { header: string[] | null; width: number };
      lines: string[];
      gaps: CoveragePlan['gaps'];
    }
  | Refusal;

const CHUNK_ROWS = 500;

const inJsonChunks = (rows: readonly object[]): string[] =>
  Array.from({ length: Math.ceil(rows.length / CHUNK_ROWS) }, (_, n) =>
    JSON.stringify(rows.slice(n * CHUNK_ROWS, (n + 1) * CHUNK_ROWS)),
  );

/** The bytes of the file, marked with the declared charset if it is a text. */
const fileOf = ({ bytes, charset }: SentFile): Uint8Array =>
  isArchive(bytes) ? bytes : markCharset({ bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), charset });

/**
 * Runs `work` on a file at a lower priority and returns the AppError that it throws as a refusal, named after the format of the
 * file.
 */
const orRefusal = <T>({ bytes }: SentFile, work: () => T): T | Refusal => {
  lowerPriority();
  try {
    return namingErrors(isArchive(bytes) ? 'xlsx' : 'csv', work);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { kind: 'refused', code: error.code, message: error.message, extra: error.extra };
  }
};

/**
 * Decodes, parses and plans a batch's file. Runs in a separate thread ({@link createBatchReader} refers to the functions and
 * this file by name): two megabytes take up to a second, and a workbook that unpacks to 50 MiB several, during which the process could not answer other calls.
 */
export const readBatch = (sent: FileToRead): BatchReading =>
  orRefusal(sent, () => ({
    kind: 'planned',
    file: planFile(readBatchFile(fileOf(sent), sent), sent.requester, sent.createdAt),
  }));

/** Decodes, parses and plans a coverage's file, in the same thread. */
export const readCoverage = (sent: CoverageToRead): CoverageReading =>
  orRefusal(sent, () => {
    const { rows, header, width } = readCoverageFile(fileOf(sent), sent);
    const { lines, gaps } = planCoverage(rows, { withGaps: sent.withGaps, at: sent.createdAt });
    const file = { header: header?.map(storableText) ?? null, width };
    return { kind: 'planned', file, lines: inJsonChunks(lines), gaps };
  });
