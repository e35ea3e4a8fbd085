import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { presentError } from '@vat/contracts';
import { AppError } from '@vat/domain';
import type { Logger } from '@vat/runtime';

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
