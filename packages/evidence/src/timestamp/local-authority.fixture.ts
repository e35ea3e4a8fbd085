import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** An authority's HTTP server on loopback. */
export type LocalAuthority = { url: string; queries: () => number; close: () => Promise<void> };

type Answer = (response: ServerResponse, query: Uint8Array, request: IncomingMessage) => unknown;

/** Serves `answer` to every POST. */
export const startAuthority = async (answer: Answer): Promise<LocalAuthority> => {
  let queries = 0;
  const server = createServer((request, response) => {
    response.on('error', () => undefined); // some tests close the connection before the end
    void request.toArray().then(async (chunks: Buffer[]) => {
      queries += 1;
      await answer(response, Buffer.concat(chunks), request);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tsa`, queries: () => queries, close };
};

/** Answers like a correct authority, with the result of `reply`. */
export const replying =
  (reply: (query: Uint8Array) => Uint8Array | Promise<Uint8Array>): Answer =>
  async (response, query) => {
    const bytes = await reply(query);
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(bytes);
  };
