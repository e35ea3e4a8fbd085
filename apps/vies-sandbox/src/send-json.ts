import type { ServerResponse } from 'node:http';

/** Ends a response with a JSON body. */
export const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  const bytes = Buffer.from(JSON.stringify(body));
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.byteLength }).end(bytes);
};
