import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { resetSocket } from '@vat/runtime';

/** How many requests may be queued behind an unfinished one on a connection (pipelining). */
export const MAX_QUEUED_REQUESTS = 32;

/** Why a connection was closed. */
export type CloseReason = 'pipelined' | 'stalled' | 'idle' | 'unread';

/** Times in milliseconds. */
type ConnectionLimits = {
  /** A client that reads nothing of its response for this long is disconnected. */
  stalledMs: number;
  /** A connection without a request for this long is closed. */
  idleMs: number;
  /** What all clients together may leave unread of their responses, in bytes. */
  maxUnread?: number;
  /** When it aborts, every connection is closed: the process ends. */
  cutOff?: AbortSignal;
};

type Connection = {
  /** Responses that are not completely sent, including those of queued requests. */
  unfinished: number;
  /** At the last poll: bytes written to the socket, and bytes of the current write that are still queued. */
  written: number;
  queued: number;
  /** Consecutive polls without progress, and without a request. */
  stalledPolls: number;
  idlePolls: number;
};

/** Between two polls the responses that nobody reads must not fill the memory. */
const POLLS_PER_STALL = 15;
/** A process has a gigabyte for everything. The largest response that is sent at once has three megabytes. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024;

/**
 * How many bytes of the current write are still queued. Node exposes this nowhere else. Without it, a client that reads a large
 * write slowly would look like one that reads nothing.
 */
const queuedOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;

/**
 * Closes connections that hold resources without use: those with more than {@link MAX_QUEUED_REQUESTS} queued requests, those
 * whose client does not read its response, those without a request, and those with the most unread bytes when all together have
 * too many. Node's own timeouts are not enough: each byte from the
 * client, even an empty line, restarts them.
 *
 * Wrap every request listener with the returned function. The listener gets a queued request only when the previous one is
 * answered. Responses are sent in order anyway, and a queued request needs little memory until then. For a response that waits
 * for its connection, Node reports neither that the client has disconnected nor that it does not read: a stream, an export or a
 * download that began behind another response would never end.
 */
export const guardConnections = (
  server: Server,
  { stalledMs, idleMs, maxUnread = MAX_UNREAD_BYTES, cutOff }: ConnectionLimits,
  onClosed: (reason: CloseReason) => void,
): ((listener: RequestListener) => RequestListener) => {
  const connections = new Map<Socket, Connection>();
  const pollIntervalMs = stalledMs / POLLS_PER_STALL;

  const close = (socket: Socket, reason: CloseReason): void => {
    onClosed(reason);
    // A reset: after an orderly end, the kernel would hold the unread bytes for minutes.
    resetSocket(socket);
  };

  server.on('connection', (socket) => {
    connections.set(socket, { unfinished: 0, written: 0, queued: 0, stalledPolls: 0, idlePolls: 0 });
    socket.once('close', () => connections.delete(socket));
  });

  const poll = (socket: Socket, connection: Connection): void => {
    const written = socket.bytesWritten - socket.writableLength;
    const queued = queuedOf(socket);
    const isStalled = socket.writableLength > 0 && written === connection.written && queued === connection.queued;
    // Polls are counted instead of comparing times: while this process is suspended, no client can read or send anything.
    connection.stalledPolls = isStalled ? connection.stalledPolls + 1 : 0;
    connection.idlePolls = connection.unfinished === 0 ? connection.idlePolls + 1 : 0;
    Object.assign(connection, { written, queued });
    if (connection.stalledPolls >= POLLS_PER_STALL) close(socket, 'stalled');
    else if (connection.idlePolls * pollIntervalMs > idleMs) close(socket, 'idle');
  };
  /** Those that make no progress go first. */
  const closeUnread = (): void => {
    const open = [...connections].filter(([{ destroyed, writableLength }]) => !destroyed && writableLength > 0);
    let unread = open.reduce((sum, [{ writableLength }]) => sum + writableLength, 0);
    if (unread <= maxUnread) return;
    open.sort(([a, first], [b, second]) => {
      const stalled = Math.sign(second.stalledPolls) - Math.sign(first.stalledPolls);
      return stalled === 0 ? b.writableLength - a.writableLength : stalled;
    });
    for (const [socket] of open) {
      if (unread <= maxUnread) return;
      unread -= socket.writableLength;
      close(socket, 'unread');
    }
  };
  const timer = setInterval(() => {
    for (const [socket, connection] of connections) if (!socket.destroyed) poll(socket, connection);
    closeUnread();
  }, pollIntervalMs).unref();
  server.once('close', () => clearInterval(timer));
  // Nor would a client with HTTP/1.0 notice after an orderly end that its answer is not complete.
  cutOff?.addEventListener('abort', () => [...connections.keys()].forEach(resetSocket));

  return (listener) => (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    // Node emits every request of a chunk that it has read, even after the first of them closed the connection.
    if (socket.destroyed || !connection) return;
    connection.unfinished += 1;
    connection.idlePolls = 0;
    if (connection.unfinished > 1 + MAX_QUEUED_REQUESTS) return close(socket, 'pipelined');
    res.once('close', () => {
      connection.unfinished -= 1;
    });
    if (res.socket) listener(req, res);
    // In a separate turn of the event loop, so that queued requests of many connections do not delay all other calls.
    else res.once('socket', () => setImmediate(() => !socket.destroyed && listener(req, res)));
  };
};
