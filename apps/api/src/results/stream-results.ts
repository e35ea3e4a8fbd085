import { setImmediate as nextTurn } from 'node:timers/promises';
import { XLSX_TYPE } from '@vat/contracts';
import type { ResultsHead } from '@vat/db';
import { AppError } from '@vat/domain';
import { type CsvCell, type CsvDelimiter, type ResultsWriter, resultsFile, resultsWorkbook } from '@vat/spreadsheet';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';
import { breakOff, isDisconnection, sendChunks } from '../http/connection.js';

/**
 * The name of a results file in ASCII, for clients without support for other characters: `Übersicht-results.csv` becomes
 * `Ubersicht-results.csv`, characters without an ASCII form become `_`; without any letter or digit it is `results.csv`.
 */
const asciiFileName = (name: string, suffix: string): string => {
  const ascii = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]+/g, '_');
  return /[A-Za-z0-9]/.test(ascii.slice(0, -suffix.length)) ? ascii : suffix.slice(1);
};

/** The name of the uploaded file with `suffix` instead of its extension; begins with `id` when the file had no name. */
const resultsFileName = (id: string, fileName: string | null, suffix: string): string => {
  const stem = fileName?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '';
  return `${stem === '' ? id : stem}${suffix}`;
};

/** The Content-Disposition of a file that is made from an uploaded one. `id`: the public id. */
export const dispositionOf = (
  id: string,
  fileName: string | null,
  { suffix, type = 'attachment' }: { suffix: string; type?: 'attachment' | 'inline' },
): string => {
  const name = resultsFileName(id, fileName, suffix);
  const ascii = asciiFileName(name, suffix);
  return contentDisposition(name, ascii === name ? { type } : { type, fallback: ascii });
};

/** The maximum size of a page of lines: with their checks about a megabyte. */
const MAX_PAGE = { lines: 500, cells: 20_000 };
/** Characters written at once. Other calls are served between two chunks, however fast this client reads. */
const CHUNK_CHARACTERS = 65_536;

/** The format of a file with results. */
export type ResultsForm = { format: 'csv'; delimiter: CsvDelimiter; bom: boolean } | { format: 'xlsx' };

/** An uploaded file with results. `id`: the public id of what was uploaded. */
type ResultsFile = { id: string; head: ResultsHead; form: ResultsForm };

/** A line with its cells as a JSON array of texts. */
export type StoredLine = { id: string; cellsJson: string };

export type Results<Line extends StoredLine, Column extends string> = ResultsFile & {
  /** The added columns, and the cells of a line in them. */
  columns: readonly Column[];
  resultOf: (line: Line) => Readonly<Record<Column, CsvCell>>;
  /** Reads a page of lines after a line, in the order of the file. */
  read: (afterId: string | null, limit: number) => Promise<Line[]>;
  /** A client that reads nothing for this long is disconnected, since its page stays in memory. Milliseconds. */
  stalledMs: number;
  /** When it aborts, its reason is the error. */
  signal: AbortSignal;
  /** Runs before the end of the file is sent. Never rejects. */
  beforeEnd: () => Promise<void>;
};

/** Sets the headers of a file with results. */
export const describeResults = (res: Response, { id, head, form: { format } }: ResultsFile): void => {
  res.setHeader('Content-Type', format === 'csv' ? 'text/csv; charset=utf-8; header=present' : XLSX_TYPE);
  res.setHeader('Content-Disposition', dispositionOf(id, head.fileName, { suffix: `-results.${format}` }));
};

const writerOf = <Column extends string>(
  columns: readonly Column[],
  { header, width, total }: ResultsHead,
  form: ResultsForm,
): ResultsWriter<Column> =>
  form.format === 'csv'
    ? resultsFile({ columns, header, width, delimiter: form.delimiter, bom: form.bom })
    : resultsWorkbook({ columns, header, width, rows: total });

/**
 * Sends a file with results in chunks, as fast as the client reads it, and stops when the client disconnects or stalls. Throws the
 * errors of `read`, and NOT_FOUND when a line is missing. After the first byte, an error also closes the connection, so that
 * the client does not take an incomplete file for a complete one.
 */
export const streamResults = async <Line extends StoredLine, Column extends string>(
  res: Response,
  results: Results<Line, Column>,
): Promise<void> => {
  const { head, form, columns, resultOf, read, stalledMs, signal, beforeEnd } = results;
  const file = writerOf(columns, head, form);
  const lines = Math.max(1, Math.min(MAX_PAGE.lines, Math.floor(MAX_PAGE.cells / Math.max(1, head.width))));
  /** Reads a page and throws when a line is missing: the batch may be deleted during the download. */
  const readPage = async (afterId: string | null, sent: number): Promise<Line[]> => {
    const page = await read(afterId, lines);
    if (page.length < Math.min(lines, head.total - sent)) throw new AppError('NOT_FOUND');
    return page;
  };
  const first = await readPage(null, 0);

  const chunks = async function* (): AsyncGenerator<string | Uint8Array> {
    let chunk = file.header();
    let sent = 0;
    for (let page = first; ; ) {
      for (const line of page) {
        chunk += file.row(JSON.parse(line.cellsJson) as string[], resultOf(line));
        if (chunk.length < CHUNK_CHARACTERS) continue;
        const packed = file.pack(chunk, false);
        if (packed.length > 0) yield packed;
        chunk = '';
        await nextTurn();
      }
      sent += page.length;
      const last = page.at(-1);
      if (sent >= head.total || !last) break;
      page = await readPage(last.id, sent);
    }
    yield file.pack(chunk, true);
  };

  describeResults(res, results);
  res.setTimeout(stalledMs, () => breakOff(res));
  try {
    await sendChunks(res, chunks, signal);
    await beforeEnd();
    res.end();
  } catch (error) {
    // The client disconnected, or was disconnected because it stalled.
    if (isDisconnection(error)) return;
    if (res.headersSent) breakOff(res);
    throw error;
  }
};
