import { once } from 'node:events';
import { connect } from 'node:net';

/** A connection on which a test writes raw HTTP. */
export type RawConnection = {
  send: (text: string) => void;
  /** Everything received so far. */
  text: () => string;
  isClosed: () => boolean;
  /** Whether it was closed by a reset instead of an orderly end, which in HTTP/1.0 is the end of the answer. */
  wasReset: () => boolean;
  /** Reads at least this many more characters, and then nothing until it is resumed. */
  readPiece: (length: number) => Promise<void>;
  resume: () => void;
  close: () => void;
};

/** Opens a connection to an API process. It reads from the start unless `isPaused`. */
export const openRaw = async (baseUrl: string, { isPaused = false } = {}): Promise<RawConnection> => {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let text = '';
  let isClosed = false;
  let wasReset = false;
  let pieceEnd = Number.POSITIVE_INFINITY;
  if (isPaused) socket.pause();
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    if (text.length < pieceEnd) return;
    socket.pause();
    socket.emit('piece');
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    wasReset = error.code === 'ECONNRESET';
  });
  socket.once('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');
  return {
    send: (sent) => void socket.write(sent),
    text: () => text,
    isClosed: () => isClosed,
    wasReset: () => wasReset,
    readPiece: async (length) => {
      pieceEnd = text.length + length;
      const piece = once(socket, 'piece');
      socket.resume();
      await piece;
      pieceEnd = Number.POSITIVE_INFINITY;
    },
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  };
};
