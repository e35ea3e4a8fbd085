import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { presentError } from '@vat/contracts';
import { AppError } from '@vat/domain';
import type { Logger } from '@vat/runtime';
import type { Request, Response } from 'express';

/** Who asked has left, so nothing was done: no failure, and nobody to be told. */
export class CallerGone extends Error {
  override name = 'CallerGone';
}

/** Aborts when the caller leaves before its answer is complete. */
export const goneOf = (res: Response): AbortSignal => {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  res.once('close', () => gone.abort());
  return gone.signal;
};

/**
 * Tells a client that asked first (`Expect: 100-continue`) to send its body. Whoever reads a body calls this right before,
 * so that a body which is refused by its headers is never sent.
 */
export const continueIfAsked = (req: Request, res: Response): void => {
  if (req.headers.expect === undefined) return;
  // Answered: what is refused from here on has a body under way.
  delete req.headers.expect;
  res.writeContinue();
};

/** A client that sends on after its refusal is cut off after this long, in milliseconds. */
const LONGEST_MS = 5_000;
/** And is read no further than this, in bytes: from here on its sending stalls. */
const MAX_BYTES = 16 * 1024 * 1024;

/** No faster than this, so that the client's own process comes to see its answer before the bytes are used up. */
const PIECE_BYTES = 1024 * 1024;
const PAUSE_MS = 10;

/**
 * Lets a refusal reach a client whose body was not read to its end. Closing a connection that holds unread bytes resets
 * it, and most clients then report a broken connection and never the answer; reading on without an end is what the
 * refusal was to avoid. So the rest is read slowly and dropped, up to a limit, and then left unread: a client that looks
 * for an answer only when it cannot send (streams in JavaScript do) comes to look. Call it before the refusal is sent.
 */
export const dropRestOfBody = (req: Request, res: Response): void => {
  // Who asked whether to send has sent nothing, and now will not.
  if (req.complete || req.headers.expect !== undefined) return;
  const lookupsToClose = /\bclose\b/i.test(req.headers.connection ?? '');
  // Otherwise Node closes at the end of the answer. The client may close whenever it likes.
  res.setHeader('Connection', 'keep-alive');

  // Before Node's own listener, which would read on and on once nobody else has begun to.
  res.prependOnceListener('finish', () => {
    let dropped = 0;
    let pieces = 0;
    const end = (): void => void req.socket.destroySoon();
    const deadline = setTimeout(end, LONGEST_MS);
    let pause: NodeJS.Timeout | undefined;
    req.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped < (pieces + 1) * PIECE_BYTES) return;
      pieces += 1;
      req.pause();
      if (dropped < MAX_BYTES) pause = setTimeout(() => req.resume(), PAUSE_MS);
    });
    req.once('end', () => lookupsToClose && end());
    req.once('close', () => {
      clearTimeout(deadline);
      clearTimeout(pause);
    });
    req.read();
    req.resume();
  });
};

/** What Node cannot make a request of, by its code. */
const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are over 16 KiB.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

/** A client that sends on is read for so long, in milliseconds: closing over unread bytes would take the answer from it. */
const LINGER_MS = 1_000;

/**
 * Answers what never became a request (headers too long, no well-formed HTTP, too slow, CONNECT) with the envelope that
 * every error has, and closes the connection. For the server's `clientError` and `connect`.
 */
export const refuseBrokenCall = (log: Logger) => {
  // A parser that has failed fails again with all that still comes.
  const refused = new WeakSet<Duplex>();
  return (error: { code?: string }, socket: Duplex): void => {
    if (refused.has(socket)) return;
    refused.add(socket);
    // Node's own rule: an answer that has begun must not be written into.
    const { _httpMessage: current } = socket as { _httpMessage?: { headersSent: boolean } | null };
    if (!socket.writable || current?.headersSent || error.code === 'ECONNRESET') return void socket.destroy();
    const id = randomUUID();
    log.info('Refused what is no request.', { request_id: id, reason: error.code });
    const message = MESSAGES[error.code ?? ''] ?? 'The request is not well-formed HTTP.';
    const refusal = new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] } });
    const body = JSON.stringify(presentError(refusal));
    const { status } = refusal.spec;
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `X-Request-Id: ${id}`,
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(cut));
    socket.on('error', () => socket.destroy());
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  };
};
