import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResultsHead } from '@vat/db';
import { AppError, type CheckBody, publicId, type ResultLine } from '@vat/domain';
import { type CsvDelimiter, type LineResult, resultsFile } from '@vat/spreadsheet';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';

/**
 * The name of a results file for programs that know no other letters: `Übersicht-results.csv` becomes
 * `Ubersicht-results.csv`, what has no such form becomes `_`, and where no letter or digit is left it is `results.csv`.
 */
const asciiFileName = (name: string): string => {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, '_');
  return /[A-Za-z0-9]/.test(ascii.replace(/-results\.csv$/, '')) ? ascii : 'results.csv';
};

/** What the results file says of a line. The check speaks for itself: its recorded bytes are read, not the line's copy. */
const resultOfLine = ({ vatNumber, error, check }: ResultLine): LineResult => {
  const body = check && (JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody);
  return {
    vat_number: vatNumber,
    valid: body?.valid ?? null,
    verdict: body?.verdict ?? null,
    name: body?.name ?? null,
    address: body?.address ?? null,
    consultation_number: body?.consultation_number ?? null,
    check_id: check && publicId('check', check.id),
    error: error?.code ?? null,
  };
};

/** The name to save a batch's results under: that of its file with `-results`, or its id where the file had none. */
const resultsFileName = (batchId: string, fileName: string | null): string => {
  const stem = fileName?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '';
  return `${stem === '' ? publicId('batch', batchId) : stem}-results.csv`;
};

/** Lines read at a time, and cells: with their checks about a megabyte. */
const READ = { lines: 500, cells: 20_000 };
/** Handed over at a time. Between two such pieces other callers are served, even when this client takes all at once. */
const PIECE_CHARACTERS = 65_536;

/** Of what batch, and how it is written. */
type ResultsFile = {
  batchId: string;
  head: ResultsHead;
  form: { delimiter: CsvDelimiter; bom: boolean };
};

export type Results = ResultsFile & {
  /** A slice of the lines after one of them, in the order of the file. */
  read: (afterId: string | null, limit: number) => Promise<ResultLine[]>;
  /** A client that takes nothing for so long is cut off: it would hold its slice for ever. Milliseconds. */
  stalledMs: number;
  /** Cuts the connection when it aborts. */
  signal: AbortSignal;
  /** Runs before the client can see the end of the file. Never rejects. */
  beforeEnd: () => Promise<void>;
};

/** Sets the headers of results.csv. */
export const describeResults = (res: Response, { batchId, head }: ResultsFile): void => {
  res.setHeader('Content-Type', 'text/csv; charset=utf-8; header=present');
  const name = resultsFileName(batchId, head.fileName);
  const ascii = asciiFileName(name);
  res.setHeader('Content-Disposition', contentDisposition(name, ascii === name ? {} : { fallback: ascii }));
};

/**
 * Sends results.csv piece by piece, no faster than the client takes it, and stops reading when the client goes away or stalls.
 * Throws what `read` throws, and NOT_FOUND when a line is gone: before anything was sent for the first slice, later by cutting
 * the answer short, so that half a file is not taken for a whole one.
 */
export const streamResults = async (res: Response, results: Results): Promise<void> => {
  const { head, form, read, stalledMs, signal, beforeEnd } = results;
  const file = resultsFile({ header: head.header, width: head.width, ...form });
  const lines = Math.max(1, Math.min(READ.lines, Math.floor(READ.cells / Math.max(1, head.width))));
  /** A slice, of which nothing may be missing: who deletes a batch takes its lines away below the download. */
  const readWhole = async (afterId: string | null, sent: number): Promise<ResultLine[]> => {
    const slice = await read(afterId, lines);
    if (slice.length < Math.min(lines, head.total - sent)) throw new AppError('NOT_FOUND');
    return slice;
  };
  const first = await readWhole(null, 0);

  const pieces = async function* (): AsyncGenerator<string> {
    let piece = file.header();
    let sent = 0;
    for (let slice = first; ; ) {
      for (const line of slice) {
        piece += file.row(JSON.parse(line.cellsJson) as string[], resultOfLine(line));
        if (piece.length < PIECE_CHARACTERS) continue;
        yield piece;
        piece = '';
        await nextTurn();
      }
      sent += slice.length;
      const last = slice.at(-1);
      if (sent >= head.total || !last) break;
      slice = await readWhole(last.id, sent);
    }
    yield piece;
  };

  describeResults(res, results);
  res.setTimeout(stalledMs, () => res.destroy());
  try {
    await pipeline(pieces, res, { signal, end: false });
    await beforeEnd();
    res.end();
  } catch (error) {
    // The client's doing, or ours because it took nothing.
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    res.destroy();
    throw error;
  }
};
