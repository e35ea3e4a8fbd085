import type { Readable } from 'node:stream';
import { type AccountLeases, AppError, newUuid } from '@vat/domain';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';
import { breakOff, isDisconnection, sendChunks } from '../http/connection.js';

/** A client that reads nothing for this long is disconnected, so that its lease is free within 15 s. */
const STALLED_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;
/** Bytes written at once. With one write of megabytes, a slow client would seem to read nothing until it has all of it. */
const CHUNK_BYTES = 65_536;

type SendZip = {
  fileName: string;
  /** When it aborts, its reason is the error. */
  signal: AbortSignal;
  /** Runs after the last byte or an error, and before the client can see the end of the answer. Never rejects. */
  beforeEnd: () => Promise<void>;
  /** Milliseconds after which a client that reads nothing is disconnected, and between two polls of that. */
  stalledMs?: number;
  pollIntervalMs?: number;
};

/** Sets the headers of a zip. */
export const describeZip = (res: Response, fileName: string): void => {
  res.setHeader('Content-Type', 'application/zip');
  res.setHeader('Content-Disposition', contentDisposition(fileName));
};

/**
 * Sends a zip as fast as the client reads it. Throws the errors of the zip. An error after the first byte also closes the
 * connection, so that the client does not take an incomplete file for a complete one. Does not throw when the client
 * disconnects.
 */
export const sendZip = async (
  res: Response,
  zip: Readable,
  { fileName, signal, beforeEnd, stalledMs = STALLED_MS, pollIntervalMs = POLL_INTERVAL_MS }: SendZip,
): Promise<void> => {
  // How long the current chunk waits to be sent; a socket's own timeout may take up to twice as long.
  let unsentMs: number | null = null;
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for await (const part of zip) {
      for (let from = 0; from < part.length; from += CHUNK_BYTES) {
        unsentMs = 0;
        yield part.subarray(from, from + CHUNK_BYTES);
      }
      unsentMs = null;
    }
  };
  const timer = setInterval(() => {
    if (unsentMs === null) return;
    // Polls are counted instead of comparing times: while this process is suspended, no client can read anything.
    unsentMs += pollIntervalMs;
    if (unsentMs > stalledMs) breakOff(res);
  }, pollIntervalMs);
  describeZip(res, fileName);
  try {
    await sendChunks(res, chunks, signal);
    await beforeEnd();
    res.end();
  } catch (error) {
    // The client disconnected, or was disconnected because it stalled.
    if (isDisconnection(error)) return;
    await beforeEnd();
    if (res.headersSent) breakOff(res);
    throw error;
  } finally {
    clearInterval(timer);
    zip.destroy();
  }
};

/** A lease expires this long after its last renewal, for instance when its process dies. Milliseconds. */
const LEASE_MS = 9_000;
const RENEW_INTERVAL_MS = 3_000;

/**
 * A lease that is held. `lost` aborts when the lease may have expired, so another holder may have taken it, and when the caller
 * may read no more. `release` never rejects.
 */
export type HeldLease = { lost: AbortSignal; release: () => Promise<void> };

/**
 * Takes a lease of an account. `verifyCaller` throws an AppError, which becomes the reason of `lost`, when the key or the session of
 * the call has ended: a file may take hours to send.
 */
export type HoldLease = (accountId: string, verifyCaller: () => Promise<unknown>) => Promise<HeldLease | null>;

type HoldLeaseDeps = { leases: AccountLeases; onFailure: (error: unknown) => void };

/**
 * Takes one of an account's leases (for its export or a download) and renews it until it is released; null when all are taken.
 * A lease is a row that must be renewed, so that it expires within {@link LEASE_MS} when its process dies.
 */
export const holdLease =
  ({ leases, onFailure }: HoldLeaseDeps): HoldLease =>
  async (accountId, verifyCaller) => {
    const holder = newUuid();
    let renewedAt = performance.now();
    if (!(await leases.take(accountId, holder, LEASE_MS))) return null;
    const lost = new AbortController();
    const renew = async () => {
      const at = performance.now();
      try {
        await verifyCaller();
        if (await leases.renew(accountId, holder, LEASE_MS)) renewedAt = at;
        else lost.abort();
      } catch (error) {
        if (error instanceof AppError) return lost.abort(error);
        onFailure(error);
        // The lease expires before the next attempt to renew it.
        if (at + RENEW_INTERVAL_MS - renewedAt > LEASE_MS) lost.abort();
      }
    };
    const timer = setInterval(renew, RENEW_INTERVAL_MS);
    let released: Promise<void> | undefined;
    const release = () => {
      clearInterval(timer);
      released ??= leases.release(accountId, holder).catch(onFailure);
      return released;
    };
    return { lost: lost.signal, release };
  };
