import type { Socket } from 'node:net';

/**
 * Closes a connection at once with a reset (RST), so that nothing that is still unsent or unread is kept for it.
 *
 * While libuv is about to send the end of a connection, until the next turn of the event loop, it refuses a reset (EINVAL). Node 20
 * would then leave the connection open for good, although it calls the socket destroyed. All data is sent by then, so it is
 * closed in the usual way.
 */
export const resetSocket = (socket: Socket): void => {
  const isSendingEnd = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isSendingEnd) socket.destroy();
  else socket.resetAndDestroy();
};
