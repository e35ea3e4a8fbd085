import type { IncomingMessage } from 'node:http';

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Hands over the parsed body, or undefined where it is no JSON or over 4 MiB. By callback: it is paid at every ask. */
export const readJson = (request: IncomingMessage, use: (body: unknown) => void): void => {
  const chunks: Buffer[] = [];
  let size = 0;
  request.on('data', (chunk: Buffer) => {
    size += chunk.byteLength;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk);
  });
  request.on('error', () => undefined); // a client gone in the middle of its body needs no answer
  request.once('end', () => use(size <= MAX_BODY_BYTES ? parse(Buffer.concat(chunks).toString()) : undefined));
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
