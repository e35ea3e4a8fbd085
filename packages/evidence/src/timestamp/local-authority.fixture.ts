import type { IncomingMessage, ServerResponse } from 'node:http';
import { openHttpServer } from '@vat/testkit/local-server';

/** An authority's HTTP server on loopback. */
export type LocalAuthority = { url: string; queries: () => number; close: () => Promise<void> };

type Answer = (response: ServerResponse, query: Uint8Array, request: IncomingMessage) => unknown;

/** Serves `answer` to every POST. */
export const startAuthority = async (answer: Answer): Promise<LocalAuthority> => {
  let queries = 0;
  const { url, close } = await openHttpServer((request, response) => {
    response.on('error', () => undefined); // some tests close the connection before the end
    void request.toArray().then(async (chunks: Buffer[]) => {
      queries += 1;
      await answer(response, Buffer.concat(chunks), request);
    });
  });
  return { url: `${url}/tsa`, queries: () => queries, close };
};

/** Answers like a correct authority, with the result of `reply`. */
export const replying =
  (reply: (query: Uint8Array) => Uint8Array | Promise<Uint8Array>): Answer =>
  async (response, query) => {
    const bytes = await reply(query);
    response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(bytes);
  };
