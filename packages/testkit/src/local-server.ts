import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server on loopback. `host`: with its port; `url`: over HTTP; `connections`: how many there were. */
export type LocalServer = {
  host: string;
  port: number;
  url: string;
  connections: () => number;
  /** Ends open connections as well. */
  close: () => Promise<void>;
};

/** Lets a server of any protocol listen on a free port of loopback. */
export const listenLocally = async (server: Server): Promise<LocalServer> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => undefined); // clients close connections by design
    socket.once('close', () => sockets.delete(socket));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ host: `127.0.0.1:${port}`, port, url: `http://127.0.0.1:${port}` },
    connections: () => connections,
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

export const openHttpServer = (listener: RequestListener): Promise<LocalServer> =>
  listenLocally(createServer(listener));
