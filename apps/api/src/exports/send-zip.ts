import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type AccountLeases, newUuid } from '@vat/domain';
import { create as contentDisposition } from 'content-disposition';
import type { Response } from 'express';

/** A client that takes nothing for this long has gone, whatever its connection says. Below the 15 s of contract part 2 §7. */
const STALLED_MS = 10_000;
const POLL_INTERVAL_MS = 1_000;
/** Handed over at a time: of a file of megabytes in one piece, a slow client would seem to take nothing until it had it all. */
const CHUNK_BYTES = 65_536;

type SendZip = {
  fileName: string;
  /** Cuts the connection when it aborts. */
  signal: AbortSignal;
  /** Runs after the last byte, or what failed, and before the client can see the end of either kind. Never rejects. */
  beforeEnd: () => Promise<void>;
  /** Milliseconds after which a client that takes nothing has gone, and between two looks at that. */
  stalledMs?: number;
  pollIntervalMs?: number;
};

/**
 * Sends a zip no faster than the client takes it. What fails before the first byte is thrown; what fails later is thrown
 * too, and cuts the connection, so that nobody takes half a zip for a whole one. A client that goes away is no failure.
 */
export const sendZip = async (
  res: Response,
  zip: Readable,
  { fileName, signal, beforeEnd, stalledMs = STALLED_MS, pollIntervalMs = POLL_INTERVAL_MS }: SendZip,
): Promise<void> => {
  const pieces = zip[Symbol.asyncIterator]();
  const first = await pieces.next();
  // How long the slice that is being sent has been handed over; a socket's own time-out takes up to twice its time.
  let untakenMs: number | null = null;
  const all = async function* (): AsyncGenerator<Uint8Array> {
    for (let piece = first; !piece.done; piece = await pieces.next()) {
      for (let from = 0; from < piece.value.length; from += CHUNK_BYTES) {
        untakenMs = 0;
        yield piece.value.subarray(from, from + CHUNK_BYTES);
      }
      untakenMs = null;
    }
  };
  const watch = setInterval(() => {
    if (untakenMs === null) return;
    // Looks are counted, not the clock: while this process stood still, a client could take nothing.
    untakenMs += pollIntervalMs;
    if (untakenMs > stalledMs) res.destroy();
  }, pollIntervalMs);
  res.setHeader('Content-Type', 'application/zip');
  res.setHeader('Content-Disposition', contentDisposition(fileName));
  res.setHeader('Cache-Control', 'no-store');
  try {
    await pipeline(all, res, { signal, end: false });
    await beforeEnd();
    res.end();
  } catch (error) {
    // The client's doing, or ours because it took nothing.
    if (res.destroyed) return;
    await beforeEnd();
    res.destroy();
    throw error;
  } finally {
    clearInterval(watch);
    zip.destroy();
  }
};

/** How long a lease outlives the process that held it, and how often it is renewed. Milliseconds. */
const LEASE_MS = 9_000;
const RENEW_EVERY_MS = 3_000;

/** `lost` aborts when somebody else may have the lease by now: then one too many would run. `release` never rejects. */
export type HeldLease = { lost: AbortSignal; release: () => Promise<void> };

type HoldLeaseDeps = { leases: AccountLeases; onFailure: (error: unknown) => void };

/**
 * Takes one of an account's leases (its export, a download) and holds it until it is released; null when all are taken. A process that dies loses it
 * within {@link LEASE_MS}, which is why it is a row that has to be renewed.
 */
export const holdLease =
  ({ leases, onFailure }: HoldLeaseDeps) =>
  async (accountId: string): Promise<HeldLease | null> => {
    const holder = newUuid();
    let renewedAt = performance.now();
    if (!(await leases.take(accountId, holder, LEASE_MS))) return null;
    const lost = new AbortController();
    const renew = async () => {
      const at = performance.now();
      try {
        if (await leases.renew(accountId, holder, LEASE_MS)) renewedAt = at;
        else lost.abort();
      } catch (error) {
        onFailure(error);
        // At the next turn it would be too late.
        if (at + RENEW_EVERY_MS - renewedAt > LEASE_MS) lost.abort();
      }
    };
    const timer = setInterval(renew, RENEW_EVERY_MS);
    let released: Promise<void> | undefined;
    const release = () => {
      clearInterval(timer);
      released ??= leases.release(accountId, holder).catch(onFailure);
      return released;
    };
    return { lost: lost.signal, release };
  };
