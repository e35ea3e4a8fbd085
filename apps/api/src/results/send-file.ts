import { AppError } from '@vat/domain';
import type { Request, Response } from 'express';
import type { HeldLease } from '../exports/send-zip.js';
import { SENT } from '../routes/route.js';
import { describeResults, type Results, type StoredLine, streamResults } from './stream-results.js';

/** A client that reads nothing for this long is disconnected. */
const STALLED_MS = 60_000;

/** Retry-After of TOO_MANY_DOWNLOADS, in seconds. */
const DOWNLOAD_RETRY_AFTER_S = 2;

/** What limits a download while it is sent. `beforeEnd` runs before the end of the file is sent. */
type HeldDownload = { stalledMs: number; signal: AbortSignal; beforeEnd: () => Promise<void> };

/** Sends a file with results while it holds one of the downloads of the account. Throws TOO_MANY_DOWNLOADS. */
export type SendFile = (accountId: string, send: (held: HeldDownload) => Promise<void>) => Promise<typeof SENT>;

/** `holdDownload`: null when the account has the maximum number of downloads, over all processes. */
export const sendFile =
  (holdDownload: (accountId: string) => Promise<HeldLease | null>): SendFile =>
  async (accountId, send) => {
    const lease = await holdDownload(accountId);
    if (!lease) throw new AppError('TOO_MANY_DOWNLOADS', { extra: { retry_after: DOWNLOAD_RETRY_AFTER_S } });
    try {
      await send({ stalledMs: STALLED_MS, signal: lease.lost, beforeEnd: lease.release });
      return SENT;
    } finally {
      await lease.release();
    }
  };

/** Sends the results of an uploaded file to the caller; for HEAD only the headers. */
export const sendResults = async <Line extends StoredLine, Column extends string>(
  send: SendFile,
  { req, res, caller }: { req: Request; res: Response; caller: { accountId: string } },
  results: Omit<Results<Line, Column>, keyof HeldDownload>,
): Promise<typeof SENT> => {
  if (req.method !== 'HEAD') return send(caller.accountId, (held) => streamResults(res, { ...results, ...held }));
  describeResults(res, results);
  res.end();
  return SENT;
};
