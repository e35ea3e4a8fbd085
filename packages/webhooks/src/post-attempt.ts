import type { IncomingMessage } from 'node:http';
import { type Agent, request } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import type { AttemptResult, AttemptTimings } from './attempt-result.js';
import type { AttemptStop } from './create-attempt-stop.js';
import { describeFailure } from './describe-failure.js';

/** The part of an attempt after its host was judged. */
export type Posted = Pick<AttemptResult, 'statusCode' | 'error' | 'address' | 'answer' | 'answerTruncated'> &
  Pick<AttemptTimings, 'tcpMs' | 'tlsMs' | 'firstByteMs'>;

type PostDeps = { agent: Agent; maxAnswerBytes: number };

type Post = {
  url: URL;
  lookup: LookupFunction;
  headers: Record<string, string>;
  body: string;
  /** Ends the attempt; its reason becomes the error, with the phase it ended in. */
  stop: AttemptStop;
};

/** Answers up to this size are read to their end, so that the connection can be kept; longer ones cost it. */
const DRAINED_BYTES = 8 * 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

const span = (from: number | null, to: number | null) => (from === null || to === null ? null : Math.round(to - from));

/** As a list, which Node writes out as it is: an object it takes apart and checks name by name, for each attempt. */
const headerLines = (url: URL, headers: Record<string, string>, bytes: Buffer): string[] => {
  const lines = ['Host', url.host, 'Accept', '*/*', 'Content-Length', String(bytes.byteLength)];
  for (const [name, value] of Object.entries(headers)) lines.push(name, value);
  return lines;
};

/**
 * Sends the body once over the agent and reads the answer as far as it is kept or drained. Never rejects. Node's own
 * client, since it does none of what must not happen: it follows no redirect, unpacks nothing, repeats nothing.
 */
export const postAttempt =
  ({ agent, maxAnswerBytes }: PostDeps) =>
  ({ url, lookup, headers, body, stop }: Post): Promise<Posted> =>
    new Promise((resolve) => {
      const limit = Math.max(DRAINED_BYTES, maxAnswerBytes);
      const chunks: Buffer[] = [];
      let received = 0;
      let statusCode: number | null = null;
      let address: string | null = null;
      let start: number | null = null;
      let tcp: number | null = null;
      let ready: number | null = null;
      let head: number | null = null;

      const bytes = Buffer.from(body);
      const posting = request({
        agent,
        method: 'POST',
        host: url.hostname.replace(/^\[|\]$/g, ''),
        port: url.port || 443,
        path: `${url.pathname}${url.search}`,
        headers: headerLines(url, headers, bytes),
        lookup,
        maxHeaderSize: MAX_HEADER_BYTES,
      });

      const phase = () => {
        if (head !== null) return 'while reading the answer';
        if (ready !== null) return 'while waiting for an answer';
        return tcp === null ? 'while connecting' : 'during the TLS handshake';
      };
      const settle = (error: string | null, whole: boolean) => {
        stop.onStop(null);
        if (!whole) posting.destroy();
        resolve({
          statusCode,
          error,
          address,
          tcpMs: span(start, tcp),
          tlsMs: span(tcp, ready),
          firstByteMs: span(ready, head),
          answer: chunks.length === 0 ? NOTHING : Buffer.concat(chunks),
          answerTruncated: received > maxAnswerBytes || (statusCode !== null && !whole),
        });
      };
      // Both stay, since a late error must find a listener.
      const fail = (error: Error) => settle(describeFailure(error), false);
      posting.on('error', fail);
      posting.once('response', (response: IncomingMessage) => {
        head = performance.now();
        statusCode = response.statusCode ?? null;
        response.on('error', fail);
        response.on('data', (chunk: Buffer) => {
          const room = maxAnswerBytes - received;
          received += chunk.byteLength;
          if (room > 0) chunks.push(chunk.subarray(0, room));
          if (received > limit) settle(null, false);
        });
        response.once('end', () => settle(null, true));
      });
      posting.once('socket', (socket) => {
        const now = performance.now();
        if (!socket.connecting && posting.reusedSocket) {
          ready = now;
          address = socket.remoteAddress ?? null;
          return;
        }
        start = now;
        socket.once('connect', () => {
          tcp = performance.now();
          address = socket.remoteAddress ?? null; // gone once the socket is destroyed
        });
        socket.once('secureConnect', () => {
          ready = performance.now();
        });
      });
      // With a listener Node leaves the socket of a 101 to us, without one it is a reset.
      posting.once('upgrade', (response: IncomingMessage, socket: Socket) => {
        statusCode = response.statusCode ?? null;
        socket.destroy();
        settle(describeFailure(Object.assign(new Error(), { code: 'ERR_UPGRADED' })), false);
      });
      stop.onStop((reason) => settle(`${reason} (${phase()})`, false));
      posting.end(bytes);
    });
