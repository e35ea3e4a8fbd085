import {
  AppError,
  badRequest,
  type CoveragePlan,
  type ErrorCode,
  type PlannedFile,
  planCoverage,
  planFile,
  storableText,
} from '@vat/domain';
import { decodeWindows1252, isArchive, namingErrors, readBatchFile, readCoverageFile } from '@vat/spreadsheet';
import { lowerPriority } from '../lower-priority.js';
import type { Upload } from './upload.js';

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
type BatchReading = { kind: 'planned'; file: PlannedFile } | Refusal;

/** The result for a file of supplies. `width`: cells of the widest row. `lines`: JSON arrays, which are parsed one by one. */
type CoverageReading =
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

const MARKS = {
  utf8: Buffer.from([0xef, 0xbb, 0xbf]),
  utf16le: Buffer.from([0xff, 0xfe]),
  utf16be: Buffer.from([0xfe, 0xff]),
} as const;

/** The supported names of charsets. As in browsers, Latin-1 means Windows-1252. */
const CHARSETS: ReadonlyMap<string, keyof typeof MARKS | 'windows1252'> = new Map([
  ['utf-8', 'utf8'],
  ['utf8', 'utf8'],
  ['us-ascii', 'utf8'],
  ['utf-16', 'utf16le'],
  ['utf-16le', 'utf16le'],
  ['utf-16be', 'utf16be'],
  ['windows-1252', 'windows1252'],
  ['cp1252', 'windows1252'],
  ['iso-8859-1', 'windows1252'],
  ['latin1', 'windows1252'],
]);

/**
 * Adds a byte order mark for the charset that the caller declared. A mark in the file takes precedence. Without a declared
 * charset the bytes are returned unchanged, and the reader detects the encoding.
 * Throws BAD_REQUEST for a charset that is not supported, and INVALID_CSV for bytes that are undefined in Windows-1252.
 */
const markCharset = ({ bytes, charset }: Pick<Upload, 'bytes' | 'charset'>): Buffer => {
  if (charset === null) return bytes;
  const known = CHARSETS.get(charset);
  if (known === undefined) {
    throw badRequest('Content-Type', 'The charset is utf-8, utf-16le, utf-16be or windows-1252');
  }
  const marked = Object.values(MARKS).some((mark) => bytes.subarray(0, mark.length).equals(mark));
  if (marked || bytes.length === 0) return bytes;
  const [mark, text] =
    known === 'windows1252' ? [MARKS.utf8, Buffer.from(decodeWindows1252(bytes), 'utf8')] : [MARKS[known], bytes];
  return Buffer.concat([mark, text]);
};

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
