import { VerificationError } from './verification-error.js';

/** What is used of a request of Express or of Node itself. */
export type RawRequest = {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** What a body parser left. */
  body?: unknown;
  /** Where some hosts keep the bytes beside the parsed body. */
  rawBody?: unknown;
  /** True once a parser has read the stream to its end. */
  readableEnded: boolean;
  /** True once the connection is gone. */
  destroyed: boolean;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
};

/** The bytes; that there were more than allowed; or that the sender went away before the end. */
export type RawBody = { bytes: string | Uint8Array } | { tooLarge: true } | { gone: true };

/**
 * The bytes of a request's body: those that `express.raw()` or `express.text()` read, or else those of the stream, of
 * which no more than `maxBytes` are kept. Throws BODY_NOT_RAW when a parser has had the stream and kept no bytes.
 */
export const readRawBody = async (request: RawRequest, maxBytes: number): Promise<RawBody> => {
  const kept = [request.rawBody, request.body].find((body) => typeof body === 'string' || body instanceof Uint8Array);
  if (typeof kept === 'string' || kept instanceof Uint8Array) return { bytes: kept };
  if (request.readableEnded)
    throw new VerificationError(
      'BODY_NOT_RAW',
      'a body parser read the request first; put the webhook before express.json()',
    );
  // Its events were sent before anybody listened.
  if (request.destroyed) return { gone: true };
  return readStream(request, maxBytes);
};

const readStream = (request: RawRequest, maxBytes: number): Promise<RawBody> =>
  new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const keep = (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The stream flows on into nothing: a connection closed on data that nobody read is reset, and the answer lost.
      request.off('data', keep);
      chunks.length = 0;
      resolve({ tooLarge: true });
    };
    request.on('data', keep);
    request.on('end', () => resolve({ bytes: Buffer.concat(chunks) }));
    request.on('error', () => resolve({ gone: true }));
    request.on('close', () => resolve({ gone: true }));
  });
