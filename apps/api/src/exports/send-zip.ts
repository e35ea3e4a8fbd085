import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';

/** A client that takes nothing for this long has gone, whatever its connection says. Below the 15 s of contract part 2 §7. */
const STALLED_MS = 12_000;

/** How a connection that the client closed ends a stream. */
const WENT_AWAY = [
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_UNABLE_TO_PIPE',
  'ECONNRESET',
  'EPIPE',
];

type SendZip = {
  fileName: string;
  /** Cuts the connection when it aborts. */
  signal: AbortSignal;
  /** Runs after the last byte and before the client can see the end. */
  beforeEnd: () => Promise<void>;
};

/**
 * Sends a zip no faster than the client takes it. What fails before the first byte is thrown; what fails later is thrown
 * too, and cuts the connection, so that nobody takes half a zip for a whole one. A client that goes away is no failure.
 */
export const sendZip = async (
  res: Response,
  zip: Readable,
  { fileName, signal, beforeEnd }: SendZip,
): Promise<void> => {
  const pieces = zip[Symbol.asyncIterator]();
  const first = await pieces.next();
  const all = async function* (): AsyncGenerator<Uint8Array> {
    for (let piece = first; !piece.done; piece = await pieces.next()) yield piece.value;
  };
  res.setHeader('Content-Type', 'application/zip');
  res.setHeader('Content-Disposition', contentDisposition(fileName));
  res.setHeader('Cache-Control', 'no-store');
  res.setTimeout(STALLED_MS, () => void (res.writableNeedDrain && res.destroy()));
  try {
    await pipeline(all, res, { signal, end: false });
    await beforeEnd();
    res.end();
  } catch (error) {
    res.destroy();
    if (!WENT_AWAY.includes(String((error as NodeJS.ErrnoException).code))) throw error;
  } finally {
    zip.destroy();
  }
};
