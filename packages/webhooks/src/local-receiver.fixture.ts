import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import type { Identity } from '@vat/testkit';
import { type LocalServer, listenLocally } from '@vat/testkit/local-server';

export type Received = { method: string; url: string; headers: IncomingMessage['headers']; body: string };

export const startReceiver = (identity: Identity, listener: RequestListener): Promise<LocalServer> => {
  const server = createHttpsServer({ ...identity, keepAliveTimeout: 60_000 }, listener);
  server.on('tlsClientError', () => {});
  return listenLocally(server);
};

export const startRawReceiver = (onConnection: (socket: Socket) => void = () => {}): Promise<LocalServer> =>
  listenLocally(createTcpServer(onConnection));

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
): Promise<LocalServer> => {
  const server = createTlsServer(identity, (socket) => {
    socket.on('error', () => {}); // the sender closes connections by design
    onConnection(socket);
  });
  server.on('tlsClientError', () => {});
  return listenLocally(server);
};
