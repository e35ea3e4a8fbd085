import type { IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { AppError, badRequest } from '@vat/domain';

/** Collects bytes that arrive in chunks. `add` copies the chunk; it returns false and copies nothing when the limit would be exceeded. */
type ByteCollector = { add: (chunk: Uint8Array) => boolean; bytes: () => Buffer };

const INITIAL_CAPACITY = 64 * 1024;

/**
 * Collects up to `maxBytes` bytes in one buffer that doubles when it is full. A list of chunks would need about a hundred bytes
 * per chunk in addition, and a client may send a file in two million chunks.
 */
export const collectBytes = (maxBytes: number): ByteCollector => {
  let buffer = Buffer.alloc(0);
  let length = 0;
  return {
    add: (chunk) => {
      const needed = length + chunk.length;
      if (needed > maxBytes) return false;
      if (needed > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(INITIAL_CAPACITY, 2 * buffer.length, needed)));
        buffer.copy(larger, 0, 0, length);
        buffer = larger;
      }
      buffer.set(chunk, length);
      length = needed;
      return true;
    },
    bytes: () => buffer.subarray(0, length),
  };
};

/** A pipe in progress. `fail` ends it with an error. */
export type LimitedPipe = { done: Promise<void>; fail: (error: unknown) => void };

/**
 * Pipes the body of a request, at most `maxBytes`, into a sink. Unlike `pipeline`, it does not destroy the socket on an error,
 * so that the error can still be answered. Rejects with the sink's error, FILE_TOO_LARGE, or BAD_REQUEST when the client
 * disconnects.
 */
export const pipeWithLimit = (req: IncomingMessage, sink: Writable, maxBytes: number): LimitedPipe => {
  let fail: LimitedPipe['fail'] = () => undefined;
  const done = new Promise<void>((resolve, reject) => {
    let total = 0;
    const count = (chunk: Buffer): void => {
      total += chunk.length;
      if (total > maxBytes) fail(new AppError('FILE_TOO_LARGE'));
    };
    const gone = (cause?: unknown): void => fail(badRequest('', 'The body ended early', cause));
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
    // These two listeners stay: a sink or request may emit an error after the pipe has ended, which must not be unhandled.
    sink.on('error', fail);
    req.on('error', gone);
    sink.once('finish', () => settle(resolve));
    req.on('close', onClose);
    if (req.destroyed) return gone();
    // Registered before the pipe, so that the sink never gets more than the limit.
    req.on('data', count);
    req.pipe(sink);
  });
  return { done, fail };
};
