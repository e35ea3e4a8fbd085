import { once } from 'node:events';
import { connect } from 'node:net';

/** A connection on which a test writes HTTP itself. */
export type RawConnection = {
  send: (text: string) => void;
  /** What came so far, as it came. */
  text: () => string;
  isClosed: () => boolean;
  close: () => void;
};

/** Opens a connection to an API process. */
export const openRaw = async (baseUrl: string): Promise<RawConnection> => {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  let text = '';
  let isClosed = false;
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
  });
  socket.on('error', () => undefined);
  socket.once('close', () => {
    isClosed = true;
  });
  return {
    send: (sent) => void socket.write(sent),
    text: () => text,
    isClosed: () => isClosed,
    close: () => void socket.destroy(),
  };
};
