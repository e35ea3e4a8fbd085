import type { ClientRequest } from 'node:http';
import type { LookupFunction, Socket } from 'node:net';
import type { Got, Response } from 'got';
import type { AttemptResult, AttemptTimings } from './attempt-result.js';
import { describeFailure } from './describe-failure.js';

/** The part of an attempt after its host was judged. */
export type Posted = Pick<AttemptResult, 'statusCode' | 'error' | 'address' | 'answer' | 'answerTruncated'> &
  Pick<AttemptTimings, 'tcpMs' | 'tlsMs' | 'firstByteMs'>;

type PostDeps = { client: Got; maxAnswerBytes: number };

type Post = {
  url: URL;
  lookup: LookupFunction;
  headers: Record<string, string>;
  body: string;
  /** Ends the attempt; its reason becomes the error, with the phase it ended in. */
  stop: AbortSignal;
};

/** Answers up to this size are read to their end, so that the connection can be kept; longer ones cost it. */
const DRAINED_BYTES = 8 * 1024;

const span = (from: number | null, to: number | null) => (from === null || to === null ? null : Math.round(to - from));

/**
 * Sends the body once over the client's agent and reads the answer as far as it is kept or drained. Never rejects.
 * What it measures is taken from the socket, since got times a kept connection as if it had been opened.
 */
export const postAttempt =
  ({ client, maxAnswerBytes }: PostDeps) =>
  ({ url, lookup, headers, body, stop }: Post): Promise<Posted> =>
    new Promise((resolve) => {
      const bytes = Buffer.from(body);
      const stream = client.stream(url, {
        body: bytes,
        headers: { ...headers, 'content-length': String(bytes.byteLength) },
        dnsLookup: lookup as never, // got declares it with the overloads of its own cache; Node calls it as a lookup
      });
      const limit = Math.max(DRAINED_BYTES, maxAnswerBytes);
      const chunks: Buffer[] = [];
      let received = 0;
      let statusCode: number | null = null;
      let address: string | null = null;
      const marks = { start: null, tcp: null, ready: null, head: null } as Record<
        'start' | 'tcp' | 'ready' | 'head',
        number | null
      >;

      const phase = () => {
        if (marks.head !== null) return 'while reading the answer';
        if (marks.ready !== null) return 'while waiting for an answer';
        return marks.tcp === null ? 'while connecting' : 'during the TLS handshake';
      };
      const settle = (error: string | null, whole: boolean) => {
        stop.removeEventListener('abort', onStop);
        if (!whole) stream.destroy();
        resolve({
          statusCode,
          error,
          address,
          tcpMs: span(marks.start, marks.tcp),
          tlsMs: span(marks.tcp, marks.ready),
          firstByteMs: span(marks.ready, marks.head),
          answer: Buffer.concat(chunks),
          answerTruncated: received > maxAnswerBytes || (statusCode !== null && !whole),
        });
      };
      const onStop = () => settle(`${stop.reason} (${phase()})`, false);
      const onConnected = (socket: Socket) => {
        address = socket.remoteAddress ?? null; // gone once the socket is destroyed
      };

      stream.on('error', (error) => settle(describeFailure(error), false)); // stays: a late error must find a listener
      stream.once('request', (request: ClientRequest) => {
        request.once('socket', (socket) => {
          const now = performance.now();
          if (!socket.connecting && request.reusedSocket) {
            marks.ready = now;
            onConnected(socket);
            return;
          }
          marks.start = now;
          socket.once('connect', () => {
            marks.tcp = performance.now();
            onConnected(socket);
          });
          socket.once('secureConnect', () => {
            marks.ready = performance.now();
          });
        });
      });
      stream.once('response', (response: Response) => {
        marks.head = performance.now();
        statusCode = response.statusCode;
      });
      stream.on('data', (chunk: Buffer) => {
        const room = maxAnswerBytes - received;
        received += chunk.byteLength;
        if (room > 0) chunks.push(chunk.subarray(0, room));
        if (received > limit) settle(null, false);
      });
      stream.once('end', () => settle(null, true));
      // got listens for `upgrade`, so Node leaves the socket of a 101 to us
      stream.once('upgrade', (response: Response, socket: Socket) => {
        statusCode = response.statusCode;
        socket.destroy();
        settle(describeFailure(Object.assign(new Error(), { code: 'ERR_UPGRADED' })), false);
      });
      if (stop.aborted) onStop();
      else stop.addEventListener('abort', onStop);
    });
