import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';

/** Requests that may be queued behind an unfinished one on a connection (pipelining). Source: contract part 3 §1. */
export const MAX_QUEUED_REQUESTS = 32;

/** Why a connection was closed. */
export type CloseReason = 'pipelined' | 'stalled' | 'idle';

/** Times in milliseconds. */
type ConnectionLimits = {
  /** A client that takes nothing of its response for this long is cut off. */
  stalledMs: number;
  /** A connection without a request for this long is closed. */
  idleMs: number;
};

type Connection = {
  /** Responses that are not sent to their end, also those of queued requests. */
  unfinished: number;
  /** What the client had taken, and what of the rest was with the kernel's queue, at the last look. */
  taken: number;
  queued: number;
  /** Looks in a row without progress, and without a request. */
  stalledLooks: number;
  idleLooks: number;
};

const LOOKS_PER_STALL = 4;

/**
 * What of the piece that is being sent has still to go. Node shows that nowhere else: without it a client that takes a large
 * piece slowly looks like one that takes nothing.
 */
const queuedOf = (socket: Socket): number =>
  (socket as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;

/**
 * Closes the connections that only cost: those with more than {@link MAX_QUEUED_REQUESTS} queued requests, those whose client
 * does not read its response, and those that carry no request. Node's own time-outs do not suffice: each byte from the
 * client, an empty line too, restarts them.
 *
 * Wrap every listener for requests with what is returned. It gets a queued request only when the one before is answered:
 * responses are sent in order anyway, a queued request costs little memory until then, and Node reports for a response that
 * waits for its connection neither that the client has left nor that it does not read. A stream, an export or a download that
 * began behind another response would stay for as long as the process lives.
 */
export const guardConnections = (
  server: Server,
  { stalledMs, idleMs }: ConnectionLimits,
  onClosed: (reason: CloseReason) => void,
): ((listener: RequestListener) => RequestListener) => {
  const connections = new Map<Socket, Connection>();
  const pollIntervalMs = stalledMs / LOOKS_PER_STALL;

  const close = (socket: Socket, reason: CloseReason): void => {
    onClosed(reason);
    // Not an orderly end: the kernel would keep what the client does not take, for minutes.
    socket.resetAndDestroy();
  };

  server.on('connection', (socket) => {
    connections.set(socket, { unfinished: 0, taken: 0, queued: 0, stalledLooks: 0, idleLooks: 0 });
    socket.once('close', () => connections.delete(socket));
  });

  const look = (socket: Socket, connection: Connection): void => {
    const taken = socket.bytesWritten - socket.writableLength;
    const queued = queuedOf(socket);
    const isStalled = socket.writableLength > 0 && taken === connection.taken && queued === connection.queued;
    // Looks are counted, not the clock: while this process stood still, no client could take or send anything.
    connection.stalledLooks = isStalled ? connection.stalledLooks + 1 : 0;
    connection.idleLooks = connection.unfinished === 0 ? connection.idleLooks + 1 : 0;
    Object.assign(connection, { taken, queued });
    if (connection.stalledLooks >= LOOKS_PER_STALL) close(socket, 'stalled');
    else if (connection.idleLooks * pollIntervalMs > idleMs) close(socket, 'idle');
  };
  const looking = setInterval(() => {
    for (const [socket, connection] of connections) if (!socket.destroyed) look(socket, connection);
  }, pollIntervalMs).unref();
  server.once('close', () => clearInterval(looking));

  return (listener) => (req, res) => {
    const { socket } = req;
    const connection = connections.get(socket);
    // Node hands over every request of a piece that it has read, also after the first of them closed the connection.
    if (socket.destroyed || !connection) return;
    connection.unfinished += 1;
    connection.idleLooks = 0;
    if (connection.unfinished > 1 + MAX_QUEUED_REQUESTS) return close(socket, 'pipelined');
    res.once('close', () => {
      connection.unfinished -= 1;
    });
    if (res.socket) listener(req, res);
    // In a turn of its own: the requests of many connections, each begun as the one before ends, would hold up all others.
    else res.once('socket', () => setImmediate(() => !socket.destroyed && listener(req, res)));
  };
};
