import { once } from 'node:events';
import { connect } from 'node:net';

/** A connection on which a test writes HTTP itself. */
export type RawConnection = {
  send: (text: string) => void;
  /** What came so far, as it came. */
  text: () => string;
  isClosed: () => boolean;
  /** Stops reading: what the service sends from now on stays in the way. */
  pause: () => void;
  resume: () => void;
  close: () => void;
};

/** Opens a connection to an API process. It reads from the start unless `isPaused`. */
export const openRaw = async (baseUrl: string, { isPaused = false } = {}): Promise<RawConnection> => {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let text = '';
  let isClosed = false;
  if (isPaused) socket.pause();
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    isClosed = true;
  });
  await once(socket, 'connect');
  return {
    send: (sent) => void socket.write(sent),
    text: () => text,
    isClosed: () => isClosed,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
    close: () => void socket.destroy(),
  };
};
