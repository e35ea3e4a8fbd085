import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Identity } from '@vat/testkit';

/** A server on loopback that counts its TCP connections. */
export type LocalReceiver = { port: number; connections: () => number; close: () => Promise<void> };

export type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

const listen = async (server: Server): Promise<LocalReceiver> => {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {}); // the sender closes connections by design
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { port: (server.address() as AddressInfo).port, connections: () => connections, close };
};

export const startReceiver = (identity: Identity, listener: RequestListener): Promise<LocalReceiver> => {
  const server = createHttpsServer({ ...identity, keepAliveTimeout: 60_000 }, listener);
  server.on('tlsClientError', () => {});
  return listen(server);
};

export const startRawReceiver = (onConnection: (socket: Socket) => void = () => {}): Promise<LocalReceiver> =>
  listen(createTcpServer(onConnection));

/** Answers every request in the same way once its body is read, and records it. */
export const answering =
  (answer: (response: ServerResponse, received: Received) => void, received: Received[] = []): RequestListener =>
  async (request, response) => {
    const { method = '', url = '', headers } = request;
    const seen = { method, url, headers, body: Buffer.concat(await request.toArray()).toString() };
    received.push(seen);
    answer(response, seen);
  };

/** A TLS receiver that sends whatever `onConnection` writes. */
export const startTlsReceiver = (
  identity: Identity,
  onConnection: (socket: TLSSocket) => void,
): Promise<LocalReceiver> => {
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => {}); // as above
    onConnection(socket);
  });
  server.on('tlsClientError', () => {});
  return listen(server);
};
