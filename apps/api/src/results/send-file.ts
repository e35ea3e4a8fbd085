import type { ResultsHead } from '@vat/db';
import { AppError, type IdKind, publicId, type StoredId } from '@vat/domain';
import type { CsvDelimiter } from '@vat/spreadsheet';
import type { Request, Response } from 'express';
import type { HoldLease } from '../exports/send-zip.js';
import { callerAgain, found } from '../http/call.js';
import { SENT } from '../http/route.js';
import { describeResults, type Results, type ResultsForm, type StoredLine, streamResults } from './stream-results.js';

/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000;

/** Retry-After of TOO_MANY_DOWNLOADS, in seconds. */
const DOWNLOAD_RETRY_AFTER_S = 2;

/** What limits a download while it is sent. `beforeEnd` runs before the end of the file is sent. */
type HeldDownload = { stalledMs: number; signal: AbortSignal; beforeEnd: () => Promise<void> };

/** Sends a file with results while it holds one of the downloads of the account. Throws TOO_MANY_DOWNLOADS. */
export type SendFile = (
  accountId: string,
  res: Response,
  send: (held: HeldDownload) => Promise<void>,
) => Promise<typeof SENT>;

/** `holdDownload`: null when the account has the maximum number of downloads, over all processes. */
export const sendFile =
  (holdDownload: HoldLease): SendFile =>
  async (accountId, res, send) => {
    const lease = await holdDownload(accountId, () => callerAgain(res));
    if (!lease) throw new AppError('TOO_MANY_DOWNLOADS', { extra: { retry_after: DOWNLOAD_RETRY_AFTER_S } });
    try {
      await send({ stalledMs: STALLED_MS, signal: lease.lost, beforeEnd: lease.release });
      return SENT;
    } finally {
      await lease.release();
    }
  };

type DownloadCall<Kind extends IdKind> = {
  req: Request;
  res: Response;
  id: StoredId<Kind>;
  caller: { accountId: string };
};

/** Reads uploaded files of a kind with their results. */
export type ResultsSource<Kind extends IdKind, Line extends StoredLine> = {
  findHead: (id: StoredId<Kind>, accountId: string) => Promise<ResultsHead | null>;
  read: (id: StoredId<Kind>, afterId: string | null, limit: number) => Promise<Line[]>;
};

type ResultsRoutesDeps<Kind extends IdKind, Line extends StoredLine, Column extends string> = Pick<
  Results<Line, Column>,
  'columns' | 'resultOf'
> &
  ResultsSource<Kind, Line> & { sendFile: SendFile };

/** The routes that send an uploaded file of a kind with its results. For HEAD they send only the headers. */
export const resultsRoutes = <Kind extends IdKind, Line extends StoredLine, Column extends string>(
  kind: Kind,
  deps: ResultsRoutesDeps<Kind, Line, Column>,
) => {
  const send = async ({ req, res, id, caller: { accountId } }: DownloadCall<Kind>, form: ResultsForm) => {
    const head = found(await deps.findHead(id, accountId));
    const read = (afterId: string | null, limit: number) => deps.read(id, afterId, limit);
    const results = { id: publicId(kind, id), head, form, columns: deps.columns, resultOf: deps.resultOf, read };
    if (req.method !== 'HEAD')
      return deps.sendFile(accountId, res, (held) => streamResults(res, { ...results, ...held }));
    describeResults(res, results);
    res.end();
    return SENT;
  };
  return {
    csv: (call: DownloadCall<Kind> & { query: { delimiter: CsvDelimiter; bom: boolean } }) =>
      send(call, { format: 'csv', ...call.query }),
    xlsx: (call: DownloadCall<Kind>) => send(call, { format: 'xlsx' }),
  };
};
