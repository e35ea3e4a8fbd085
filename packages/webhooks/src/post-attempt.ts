import type { LookupFunction } from 'node:net';
import type { AttemptResult, AttemptTimings } from './attempt-result.js';
import type { AttemptStop } from './create-attempt-stop.js';
import { describeFailure, SWITCHED_PROTOCOLS } from './describe-failure.js';
import type { KeptConnections } from './keep-connections.js';

/** The part of an attempt after its host was judged. */
export type Posted = Pick<AttemptResult, 'statusCode' | 'error' | 'address' | 'answer' | 'answerTruncated'> &
  Pick<AttemptTimings, 'tcpMs' | 'tlsMs' | 'firstByteMs'>;

type PostDeps = { connections: KeptConnections; maxAnswerBytes: number };

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
const NOTHING = Buffer.alloc(0);

const span = (from: number | null, to: number | null) => (from === null || to === null ? null : Math.round(to - from));

/**
 * Sends the body once and reads the answer as far as it is kept or drained. Never rejects. Undici's bare dispatcher, since
 * it does none of what must not happen: it follows no redirect, unpacks nothing, repeats nothing that has been sent.
 */
export const postAttempt =
  ({ connections, maxAnswerBytes }: PostDeps) =>
  ({ url, lookup, headers, body, stop }: Post): Promise<Posted> =>
    new Promise((resolve) => {
      const limit = Math.max(DRAINED_BYTES, maxAnswerBytes);
      const connection = connections.take(url, lookup);
      const takenAt = performance.now();
      const chunks: Buffer[] = [];
      let received = 0;
      let statusCode: number | null = null;
      let head: number | null = null;
      let settled = false;

      const phase = () => {
        const { start, tcp, ready } = connection.openedAt;
        if (head !== null) return 'while reading the answer';
        if (ready !== null || start === null) return 'while waiting for an answer';
        return tcp === null ? 'while connecting' : 'during the TLS handshake';
      };
      const settle = (error: string | null, whole: boolean) => {
        if (settled) return;
        settled = true;
        stop.onStop(null);
        if (whole) connection.release();
        else connection.destroy();
        const { start, tcp, ready } = connection.openedAt;
        resolve({
          statusCode,
          error,
          address: connection.address,
          tcpMs: span(start, tcp),
          tlsMs: span(tcp, ready),
          firstByteMs: span(ready ?? takenAt, head),
          answer: chunks.length === 0 ? NOTHING : Buffer.concat(chunks),
          answerTruncated: received > maxAnswerBytes || (statusCode !== null && !whole),
        });
      };

      stop.onStop((reason) => settle(`${reason} (${phase()})`, false));
      if (settled) return;
      connection.send(
        { path: `${url.pathname}${url.search}`, method: 'POST', headers, body: Buffer.from(body) },
        {
          onRequestStart: () => undefined,
          onResponseStart: (_controller, status) => {
            if (status < 200) return; // an interim answer; the real one follows
            head = performance.now();
            statusCode = status;
          },
          onResponseData: (_controller, chunk) => {
            const room = maxAnswerBytes - received;
            received += chunk.byteLength;
            if (room > 0) chunks.push(chunk.subarray(0, room));
            if (received > limit) settle(null, false);
          },
          onResponseEnd: () => settle(null, true),
          onResponseError: (_controller, error) => {
            const description = describeFailure(error, head !== null);
            if (description === SWITCHED_PROTOCOLS) statusCode = 101;
            settle(description, false);
          },
        },
      );
    });
