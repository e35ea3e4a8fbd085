import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResultsHead } from '@vat/db';
import { AppError, type ResultLine } from '@vat/domain';
import { type CsvDelimiter, resultsFile } from '@vat/spreadsheet';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';
import { asciiFileName } from './ascii-file-name.js';
import { resultOfLine } from './result-of-line.js';
import { resultsFileName } from './results-file-name.js';

/** Lines read at a time, and cells: with their checks about a megabyte. */
const READ = { lines: 500, cells: 20_000 };
/** Handed over at a time. Between two such pieces other callers are served, even when this client takes all at once. */
const PIECE_CHARACTERS = 65_536;

/** Of what batch, and how it is written. */
export type ResultsFile = {
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
