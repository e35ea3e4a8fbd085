import type { Socket } from 'node:net';

/**
 * Closes a connection at once with a reset (RST), so that nothing that is still unsent or unread is kept for it.
 *
 * In the turn of the event loop in which the end of a connection begins to be sent, the system refuses a reset, and Node would
 * then leave it open for good, although it calls it destroyed. All data is sent by then, so it is closed in the usual way.
 */
export const resetSocket = (socket: Socket): void => {
  const isSendingEnd = socket.writableEnded && !socket.writableFinished && socket.writableLength === 0;
  if (isSendingEnd) socket.destroy();
  else socket.resetAndDestroy();
};
