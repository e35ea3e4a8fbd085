import { type Exchange, keptHeaders } from '@vat/domain';
import type { Got, Response } from 'got';

type UpstreamAnswer = NonNullable<Exchange['response']>;

/** How a request ended. `error` is the class and message kept in the exchange; null only for a complete answer. */
export type Posted =
  | { end: 'complete'; response: UpstreamAnswer; error: null }
  | { end: 'too_long' | 'deadline' | 'aborted'; response: UpstreamAnswer | null; error: string }
  | { end: 'failed'; response: UpstreamAnswer | null; error: string; failure: Error };

type PostDeps = {
  client: Got;
  /** Null when the base address is no http(s) URL. */
  target: URL | null;
  deadlineMs: number;
  /** Aborts every request when the client is closed. */
  closing: AbortSignal;
};

/** Longest answer read. Real ones are below 2 KiB. */
const MAX_ANSWER_BYTES = 256 * 1024;

/**
 * Sends one body and reads the answer as bytes, keeping what had arrived when it was cut. Never rejects. Deadline and
 * abort are timed here rather than by got, so that they hold whatever state the request is in (looking up a name,
 * switched to another protocol, reading a drip).
 */
export const post =
  ({ client, target, deadlineMs, closing }: PostDeps) =>
  (body: Uint8Array, signal?: AbortSignal): Promise<Posted> =>
    new Promise((resolve) => {
      if (!target) {
        const failure = Object.assign(new Error('the upstream address is not an http(s) URL'), {
          code: 'ERR_INVALID_URL',
        });
        resolve({ end: 'failed', response: null, error: `Error: ${failure.message}`, failure });
        return;
      }
      if (closing.aborted || signal?.aborted) {
        resolve({ end: 'aborted', response: null, error: 'AbortError: aborted before it was sent' });
        return;
      }

      const stream = client.stream(target, { body, headers: { 'content-length': String(body.byteLength) } });
      const chunks: Uint8Array[] = [];
      let received = 0;
      let head: Response | null = null;

      const answer = (complete: boolean): UpstreamAnswer | null =>
        head && {
          status: head.statusCode,
          headers: keptHeaders(head.headers),
          body: Buffer.concat(chunks),
          complete,
        };
      const settle = (posted: Posted) => {
        clearTimeout(timer);
        closing.removeEventListener('abort', abort);
        signal?.removeEventListener('abort', abort);
        resolve(posted); // a second call changes nothing
        if (posted.end !== 'complete') stream.destroy();
      };
      const cut = (end: 'too_long' | 'deadline' | 'aborted', error: string) =>
        settle({ end, response: answer(false), error });
      const fail = (failure: Error) =>
        settle({ end: 'failed', response: answer(false), error: `${failure.name}: ${failure.message}`, failure });
      const abort = () => cut('aborted', 'AbortError: aborted');

      const timer = setTimeout(() => cut('deadline', `no complete answer within ${deadlineMs} ms`), deadlineMs);
      closing.addEventListener('abort', abort);
      signal?.addEventListener('abort', abort);

      stream.on('error', fail); // stays on: an error after the end must not become an uncaught one
      stream.once('response', (response: Response) => {
        head = response;
      });
      stream.on('data', (chunk: Uint8Array) => {
        const room = MAX_ANSWER_BYTES - received;
        received += chunk.byteLength;
        chunks.push(chunk.byteLength > room ? chunk.subarray(0, room) : chunk);
        if (received > MAX_ANSWER_BYTES) cut('too_long', `an answer over ${MAX_ANSWER_BYTES} bytes`);
      });
      stream.once('end', () => {
        const response = answer(true);
        if (response) settle({ end: 'complete', response, error: null });
        else fail(new Error('the answer ended before it began'));
      });
      // got listens for `upgrade`, so Node leaves the socket of a 101 to us
      stream.once('upgrade', (_response: unknown, socket: { destroy: () => void }) => {
        socket.destroy();
        fail(Object.assign(new Error('the upstream switched protocols'), { code: 'ERR_UPGRADED' }));
      });
    });
