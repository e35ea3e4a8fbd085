import { pipeline } from 'node:stream/promises';
import type { ResultsHead } from '@vat/db';
import { AppError, type ResultLine } from '@vat/domain';
import { type CsvDelimiter, resultsFile } from '@vat/spreadsheet';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';
import { asciiFileName } from './ascii-file-name.js';
import { resultOfLine } from './result-of-line.js';
import { resultsFileName } from './results-file-name.js';

/** Lines held at a time; with their checks about a megabyte. */
const SLICE = 500;

export type Results = {
  batchId: string;
  head: ResultsHead;
  form: { delimiter: CsvDelimiter; bom: boolean };
  /** A slice of the lines after one of them, in the order of the file. */
  read: (afterId: string | null, limit: number) => Promise<ResultLine[]>;
  /** A client that takes nothing for so long is cut off: it would hold its slice for ever. Milliseconds. */
  stalledMs: number;
};

/**
 * Sends results.csv a slice at a time, no faster than the client takes it, and stops reading when the client goes away or stalls.
 * Throws what `read` throws, and NOT_FOUND when a line is gone: before anything was sent for the first slice, later by cutting
 * the answer short, so that half a file is not taken for a whole one.
 */
export const streamResults = async (
  res: Response,
  { batchId, head, form, read, stalledMs }: Results,
): Promise<void> => {
  const file = resultsFile({ header: head.header, width: head.width, ...form });
  /** A slice, of which nothing may be missing: who deletes a batch takes its lines away below the download. */
  const readWhole = async (afterId: string | null, sent: number): Promise<ResultLine[]> => {
    const slice = await read(afterId, SLICE);
    if (slice.length < Math.min(SLICE, head.total - sent)) throw new AppError('NOT_FOUND');
    return slice;
  };
  const first = await readWhole(null, 0);

  const pieces = async function* (): AsyncGenerator<string> {
    yield file.header();
    let sent = 0;
    for (let slice = first; ; ) {
      yield slice.map((line) => file.row(line.cells, resultOfLine(line))).join('');
      sent += slice.length;
      const last = slice.at(-1);
      if (sent >= head.total || !last) return;
      slice = await readWhole(last.id, sent);
    }
  };

  res.setHeader('Content-Type', 'text/csv; charset=utf-8; header=present');
  const name = resultsFileName(batchId, head.fileName);
  const ascii = asciiFileName(name);
  res.setHeader('Content-Disposition', contentDisposition(name, ascii === name ? {} : { fallback: ascii }));
  if (res.req.method === 'HEAD') return void res.end();
  res.setTimeout(stalledMs, () => res.destroy());
  try {
    await pipeline(pieces, res);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
  }
};
