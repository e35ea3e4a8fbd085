import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { AppError } from '@vat/domain';
import { refuseUpload } from './upload.js';

/** Bytes that come in pieces. `add` takes a copy and is false, taking nothing, once `most` would be passed. */
type ByteCollector = { add: (piece: Uint8Array) => boolean; bytes: () => Buffer };

const FIRST_CAPACITY = 64 * 1024;

/**
 * Collects up to `most` bytes in one buffer that doubles. Kept as they come, pieces cost a hundred bytes each beside
 * their content, and a client may send a file of two million pieces.
 */
export const collectBytes = (most: number): ByteCollector => {
  let held = Buffer.alloc(0);
  let length = 0;
  return {
    add: (piece) => {
      const needed = length + piece.length;
      if (needed > most) return false;
      if (needed > held.length) {
        const larger = Buffer.allocUnsafe(Math.min(most, Math.max(FIRST_CAPACITY, 2 * held.length, needed)));
        held.copy(larger, 0, 0, length);
        held = larger;
      }
      held.set(piece, length);
      length = needed;
      return true;
    },
    bytes: () => held.subarray(0, length),
  };
};

/** `fail`: ends the pouring with an error from outside the sink. */
export type LimitedPipe = { done: Promise<void>; fail: (error: unknown) => void };

/**
 * Pours a request's body of at most `maxBytes` into a sink. Unlike `pipeline` it leaves the socket alone when something
 * is refused, so that the caller can still be told why. Rejects with the sink's error, FILE_TOO_LARGE, or BAD_REQUEST when
 * the client goes away.
 */
export const pipeWithLimit = (req: IncomingMessage, sink: Writable, maxBytes: number): LimitedPipe => {
  let fail: LimitedPipe['fail'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    let total = 0;
    const count = (chunk: Buffer): void => {
      total += chunk.length;
      if (total > maxBytes) fail(new AppError('FILE_TOO_LARGE'));
    };
    const gone = (cause?: unknown): void => fail(refuseUpload('', 'The body ended early', cause));
    const onClose = (): void => {
      if (!req.readableEnded) gone();
    };
    const settle = (end: () => void): void => {
      req.unpipe(sink);
      req.off('data', count);
      req.off('close', onClose);
      end();
    };
    fail = (error) => settle(() => reject(error));
    // These two stay: a sink or request that was given up may still complain, and nobody listens any more.
    sink.on('error', fail);
    req.on('error', gone);
    sink.once('finish', () => settle(resolve));
    req.on('close', onClose);
    if (req.destroyed) return gone();
    // Before the pipe, so that the sink never sees a byte too many.
    req.on('data', count);
    req.pipe(sink);
  });
  return { done, fail };
};
