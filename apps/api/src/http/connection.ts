import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { presentError } from '@vat/contracts';
import { AppError } from '@vat/domain';
import { type Logger, resetSocket } from '@vat/runtime';
import type { Request, Response } from 'express';
import { contextOf, requestIdOf } from './call.js';

/** The caller has disconnected, so the work was not done. This is not a failure, and no answer can be sent. */
export class CallerGone extends Error {
  override name = 'CallerGone';
}

/** Aborts when the caller disconnects before its answer is complete. */
export const goneOf = (res: Response): AbortSignal => {
  const gone = new AbortController();
  if (res.destroyed) gone.abort();
  res.once('close', () => gone.abort());
  return gone.signal;
};

/**
 * Ends an answer that cannot be completed by a reset of its connection. In HTTP/1.0, which proxies speak, the end of a file is that of
 * the connection: after an orderly one the part that was sent would look like a whole file.
 */
export const breakOff = (res: Response): void => {
  if (res.socket && !res.socket.destroyed) resetSocket(res.socket);
  res.destroy();
};

/** Whether {@link sendChunks} ended because the client disconnected, or was disconnected. */
export const isDisconnection = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE';

/**
 * Sends chunks as fast as the client reads them, without ending the answer. Rejects with the reason of `signal` when it aborts.
 * After the first chunk that and an error also break the answer off: `pipeline` with a signal writes all chunks before it rejects, and
 * closes the connection in the orderly way. Until the first chunk is made nothing is sent, so an error can still be answered.
 */
export const sendChunks = async (
  res: Response,
  chunks: () => AsyncGenerator<string | Uint8Array>,
  signal: AbortSignal,
): Promise<void> => {
  const rest = chunks();
  const first = await rest.next();
  signal.throwIfAborted();
  let failure: unknown;
  // The error is recorded before the connection closes, which ends the request: the caller gets it only later.
  const fail = (error: unknown): void => {
    contextOf(res).errorCode = error instanceof AppError ? error.code : 'INTERNAL';
    breakOff(res);
  };
  const all = async function* () {
    if (!first.done) yield first.value;
    try {
      yield* rest;
    } catch (error) {
      failure = error;
      fail(error);
      throw error;
    }
  };
  const close = (): void => fail(signal.reason);
  signal.addEventListener('abort', close);
  try {
    await pipeline(all, res, { end: false });
  } catch (error) {
    throw signal.aborted ? signal.reason : (failure ?? error);
  } finally {
    signal.removeEventListener('abort', close);
  }
};

/**
 * Sends 100 Continue to a client that waits for it before it sends its body (`Expect: 100-continue`). Call this immediately
 * before reading a body, so that a body which is refused because of its headers is never sent.
 */
export const continueIfAsked = (req: Request, res: Response): void => {
  if (req.headers.expect === undefined) return;
  // Removed, since from here on a refusal must expect that the body is being sent.
  delete req.headers.expect;
  res.writeContinue();
};

/** A client that still sends its body this long after the refusal is disconnected. Milliseconds. */
const MAX_DROP_MS = 5_000;
/** At most this much of the body is read; after that the client's sending stalls. */
const MAX_DROP_BYTES = 16 * 1024 * 1024;

/** Reading pauses after each chunk, so that the client has time to read the answer before the limit is reached. */
const CHUNK_BYTES = 1024 * 1024;
const PAUSE_MS = 10;

/**
 * Makes sure that a refusal reaches a client whose body was not read to its end. Closing a connection with unread bytes resets
 * it, and most clients then report a broken connection instead of the answer. Reading the whole body is what the refusal
 * avoids. So the rest of the body is read slowly and dropped, up to a limit, and then left unread: a client that reads the
 * answer only when it can no longer send (JavaScript streams do) reads it then. Call this before the refusal is sent.
 */
export const dropRestOfBody = (req: Request, res: Response): void => {
  const { expect, 'transfer-encoding': coding, 'content-length': length = '0' } = req.headers;
  const hasBody = coding !== undefined || Number(length) > 0;
  // A client that still waits for 100 Continue has sent nothing and will not.
  if (req.complete || !hasBody || expect !== undefined) return;
  // By `Connection: close`, or by HTTP/1.0.
  const wantsClose = !res.shouldKeepAlive;
  // With `Connection: close`, Node would close the connection at the end of the answer.
  res.setHeader('Connection', 'keep-alive');

  // Runs before Node's own listener, which reads the whole body unless somebody else is reading it.
  res.prependOnceListener('finish', () => {
    let dropped = 0;
    let chunks = 0;
    const end = (): void => void req.socket.destroySoon();
    const deadline = setTimeout(end, MAX_DROP_MS);
    let pause: NodeJS.Timeout | undefined;
    req.on('data', (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped < (chunks + 1) * CHUNK_BYTES) return;
      chunks += 1;
      req.pause();
      if (dropped < MAX_DROP_BYTES) pause = setTimeout(() => req.resume(), PAUSE_MS);
    });
    req.once('end', () => wantsClose && end());
    req.once('close', () => {
      clearTimeout(deadline);
      clearTimeout(pause);
    });
    req.read();
    req.resume();
  });
};

/** Messages for errors of Node's HTTP parser, by code. */
const MESSAGES: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: 'The headers are over 16 KiB.',
  ERR_HTTP_REQUEST_TIMEOUT: 'The request did not arrive in time.',
};

/** Node's own field: the response of the request that a socket answers next, or is answering. */
type HasMessage = { _httpMessage?: Response | null };

/**
 * Whether the time that has run out is no limit of this request: it waits until its route reads its body, or the route's own
 * limit has not run out. Only while the body is incomplete, since the time may otherwise be that of the next request.
 */
const isInTime = ({ code }: { code?: string }, res: Response | null | undefined): boolean =>
  code === 'ERR_HTTP_REQUEST_TIMEOUT' &&
  res?.locals !== undefined &&
  contextOf(res).limitsBody === true &&
  !res.req.complete;

/** The connection stays open this long after the answer: closing it with unread bytes would reset it, and the answer would be lost. */
const LINGER_MS = 1_000;

/**
 * Answers input that Node cannot parse as a request (headers too long, malformed HTTP, too slow, CONNECT) with the error
 * envelope and closes the connection. Listens to the server's `clientError` and `connect` events; only the latter has a `request`.
 * A request that had begun, and is unanswered, is answered by this, so it keeps its X-Request-Id.
 */
export const refuseBrokenCall = (log: Logger) => {
  // A parser that has failed emits an error again for all further input.
  const refused = new WeakSet<Duplex>();
  return (error: { code?: string }, socket: Duplex, request?: IncomingMessage): void => {
    const { bytesRead, _httpMessage: current } = socket as Partial<Socket> & HasMessage;
    // Node reports the time of a request once.
    if (refused.has(socket) || isInTime(error, current)) return;
    refused.add(socket);
    // Browsers open connections before they need them. An answer on a connection without a request would be taken for the answer to a
    // request that is just being sent; when it is closed, they send that request on another one.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && bytesRead === 0) return void socket.destroy();
    // As Node's default handler does: nothing may be written into an answer that has begun.
    if (!socket.writable || current?.headersSent || error.code === 'ECONNRESET') return void socket.destroy();
    const begun = request ?? current?.req ?? { headers: {} };
    const id = String(current?.getHeader('X-Request-Id') ?? requestIdOf(begun));
    log.info('Refused a malformed HTTP request.', { request_id: id, reason: error.code });
    const message = MESSAGES[error.code ?? ''] ?? 'The request is not well-formed HTTP.';
    const refusal = new AppError('BAD_REQUEST', { message, extra: { fields: [{ path: '', message }] } });
    const body = JSON.stringify(presentError(refusal));
    const { status } = refusal.spec;
    // Absent where Express has not seen the request yet.
    if (current?.locals) contextOf(current).errorCode = refusal.code;
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
