import type { Socket } from 'node:net';

/** How bytes pass: each one this much later, and at most so many a second. */
export type Pace = { latencyMs?: number; bytesPerSecond?: number };

type Via = { isFrozen: () => boolean; pace: () => Pace; onBytes: (chunk: Buffer) => void };

/** What is to arrive at the other side: bytes, the end of the stream, or the end of the connection. */
type Item = { dueAt: number; what: Buffer | 'end' | 'close' };

/** Bytes that wait for their time; beyond them the sender is no longer read, like a full buffer of a network. */
const MAX_WAITING_BYTES = 256 * 1_024;
/** The pieces a second in which a limited number of bytes arrives. */
const PIECES_PER_SECOND = 20;

const piecesOf = (chunk: Buffer, size: number): Buffer[] =>
  Array.from({ length: Math.ceil(chunk.length / size) }, (_, n) => chunk.subarray(n * size, (n + 1) * size));

/**
 * Passes what one socket sends to the other, in order and each at its time, while the connection is not frozen. Returns what
 * to call when it is no longer frozen.
 */
export const passBytes = (from: Socket, to: Socket, { isFrozen, pace, onBytes }: Via): (() => void) => {
  const waiting: Item[] = [];
  let waitingBytes = 0;
  let lastDueAt = 0;
  let timer: NodeJS.Timeout | undefined;

  const pass = (): void => {
    clearTimeout(timer);
    for (let item = waiting[0]; item !== undefined && !isFrozen(); item = waiting[0]) {
      const delay = item.dueAt - performance.now();
      if (delay > 0) {
        timer = setTimeout(pass, delay);
        return;
      }
      if (to.writableNeedDrain && item.what !== 'close') return;
      waiting.shift();
      if (item.what === 'close') to.destroy();
      else if (item.what === 'end') to.end();
      else {
        waitingBytes -= item.what.length;
        if (to.writable) to.write(item.what);
      }
    }
    if (waitingBytes < MAX_WAITING_BYTES) from.resume();
  };
  const add = (what: Item['what'], dueAt: number) => {
    lastDueAt = dueAt;
    waiting.push({ what, dueAt });
  };

  from.on('data', (chunk) => {
    onBytes(chunk);
    const { latencyMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = pace();
    const size = Number.isFinite(bytesPerSecond) ? Math.ceil(bytesPerSecond / PIECES_PER_SECOND) : chunk.length;
    for (const piece of piecesOf(chunk, size)) {
      waitingBytes += piece.length;
      add(piece, Math.max(performance.now() + latencyMs, lastDueAt) + (piece.length / bytesPerSecond) * 1_000);
    }
    if (waitingBytes >= MAX_WAITING_BYTES) from.pause();
    pass();
  });
  from.on('end', () => {
    add('end', lastDueAt);
    pass();
  });
  from.once('close', () => {
    add('close', lastDueAt);
    pass();
  });
  to.on('drain', pass);
  to.once('close', () => {
    clearTimeout(timer);
    waiting.length = 0;
    waitingBytes = 0;
    // A proxy that read nothing more of a sender would not see its end.
    from.resume();
  });
  return pass;
};
