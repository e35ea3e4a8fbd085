import { pipeline } from 'node:stream/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResultsHead } from '@vat/db';
import { AppError, type CheckBody, publicId, type ResultLine } from '@vat/domain';
import { type CsvDelimiter, type LineResult, resultsFile } from '@vat/spreadsheet';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';

/**
 * The name of a results file in ASCII, for clients without support for other characters: `Übersicht-results.csv` becomes
 * `Ubersicht-results.csv`, characters without an ASCII form become `_`; without any letter or digit it is `results.csv`.
 */
const asciiFileName = (name: string): string => {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, '_');
  return /[A-Za-z0-9]/.test(ascii.replace(/-results\.csv$/, '')) ? ascii : 'results.csv';
};

/** The result columns of a line. They come from the recorded bytes of the check, not from the copy in the line. */
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

/** The name of a batch's results file: the name of its file with `-results`; the id of the batch when the file had no name. */
const resultsFileName = (batchId: string, fileName: string | null): string => {
  const stem = fileName?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '';
  return `${stem === '' ? publicId('batch', batchId) : stem}-results.csv`;
};

/** The maximum size of a page of lines: with their checks about a megabyte. */
const MAX_PAGE = { lines: 500, cells: 20_000 };
/** Characters written at once. Other calls are served between two chunks, however fast this client reads. */
const CHUNK_CHARACTERS = 65_536;

/** A batch, and the form of its results file. */
type ResultsFile = {
  batchId: string;
  head: ResultsHead;
  form: { delimiter: CsvDelimiter; bom: boolean };
};

export type Results = ResultsFile & {
  /** Reads a page of lines after a line, in the order of the file. */
  read: (afterId: string | null, limit: number) => Promise<ResultLine[]>;
  /** A client that reads nothing for this long is disconnected, since its page stays in memory. Milliseconds. */
  stalledMs: number;
  /** Closes the connection when it aborts. */
  signal: AbortSignal;
  /** Runs before the end of the file is sent. Never rejects. */
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
 * Sends results.csv in chunks, as fast as the client reads it, and stops when the client disconnects or stalls. Throws the
 * errors of `read`, and NOT_FOUND when a line is missing. After the first page, an error also closes the connection, so that
 * the client does not take an incomplete file for a complete one.
 */
export const streamResults = async (res: Response, results: Results): Promise<void> => {
  const { head, form, read, stalledMs, signal, beforeEnd } = results;
  const file = resultsFile({ header: head.header, width: head.width, ...form });
  const lines = Math.max(1, Math.min(MAX_PAGE.lines, Math.floor(MAX_PAGE.cells / Math.max(1, head.width))));
  /** Reads a page and throws when a line is missing: the batch may be deleted during the download. */
  const readPage = async (afterId: string | null, sent: number): Promise<ResultLine[]> => {
    const page = await read(afterId, lines);
    if (page.length < Math.min(lines, head.total - sent)) throw new AppError('NOT_FOUND');
    return page;
  };
  const first = await readPage(null, 0);

  const chunks = async function* (): AsyncGenerator<string> {
    let chunk = file.header();
    let sent = 0;
    for (let page = first; ; ) {
      for (const line of page) {
        chunk += file.row(JSON.parse(line.cellsJson) as string[], resultOfLine(line));
        if (chunk.length < CHUNK_CHARACTERS) continue;
        yield chunk;
        chunk = '';
        await nextTurn();
      }
      sent += page.length;
      const last = page.at(-1);
      if (sent >= head.total || !last) break;
      page = await readPage(last.id, sent);
    }
    yield chunk;
  };

  describeResults(res, results);
  res.setTimeout(stalledMs, () => res.destroy());
  try {
    await pipeline(chunks, res, { signal, end: false });
    await beforeEnd();
    res.end();
  } catch (error) {
    // The client disconnected, or was disconnected because it stalled.
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    res.destroy();
    throw error;
  }
};
