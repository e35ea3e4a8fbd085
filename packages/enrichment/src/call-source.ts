import type { Agent as HttpAgent } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import { type EnrichmentSourceName, type Exchange, storedHeaders } from '@vat/domain';
import got from 'got';

/** The longest answer that is read; the rest is dropped and the answer counts as incomplete. */
export const ANSWER_CAP_BYTES = 512 * 1024;

/**
 * How a call ended: `aborted` by the caller's signal, `broken` by a failure of name resolution, connection or
 * protocol.
 */
type CallEnd = 'complete' | 'timeout' | 'aborted' | 'too_large' | 'broken';

/** A finished call, with the code of its failure (`ECONNRESET` …) if it failed. */
export type SourceCall = { exchange: Exchange; end: CallEnd; errorCode: string | null };

/** The input of a call; `json` makes it a POST. */
export type CallInput = {
  source: EnrichmentSourceName;
  url: string;
  json?: unknown;
  /** The `accept` header; plain JSON by default. */
  accept?: string | undefined;
  /** One deadline for name resolution, connection, headers and body, in milliseconds. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
};

type Headers = Record<string, string>;

const flatten = (headers: NodeJS.Dict<string | string[] | number>): Headers =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : String(value)]],
    ),
  );

/**
 * The URL to store: a base URL may contain an operator's credentials, and an exchange becomes part of customers'
 * dossiers.
 */
const withoutUserInfo = (text: string): string => {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  if (url.username === '' && url.password === '') return text;
  url.username = '';
  url.password = '';
  return url.href;
};

const describe = (error: unknown) => (error instanceof Error ? `${error.name}: ${error.message}` : String(error));

const errorCodeOf = (error: unknown) =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/**
 * Makes one HTTP call to a national source and records the exchange byte for byte, except cookies and credentials. Never
 * throws, follows no redirects, does not retry, reads at most {@link ANSWER_CAP_BYTES} and ends by its deadline or the
 * signal. The agents are given, so proxy variables are ignored.
 */
export const callSource =
  (deps: { agents: { http: HttpAgent; https: HttpsAgent }; userAgent: string; now: () => Date }) =>
  async (input: CallInput): Promise<SourceCall> => {
    const startedAt = deps.now();
    const start = performance.now();
    const method = input.json === undefined ? 'GET' : 'POST';
    const body = input.json === undefined ? '' : JSON.stringify(input.json);
    let sent: Headers = {
      accept: input.accept ?? 'application/json',
      // Nothing is decompressed, so that the stored bytes are the received ones and a small answer cannot become a
      // large one.
      'accept-encoding': 'identity',
      'user-agent': deps.userAgent,
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
    };
    const state: { head: { status: number; headers: Headers } | null; end: CallEnd; failure: unknown } = {
      head: null,
      end: 'complete',
      failure: null,
    };
    const chunks: Uint8Array[] = [];
    let size = 0;

    const stop = new AbortController();
    const stopAs = (why: CallEnd) => () => {
      if (!stop.signal.aborted) state.end = why;
      stop.abort();
    };
    const onAbort = stopAs('aborted');
    const deadline = setTimeout(stopAs('timeout'), input.timeoutMs);
    input.signal?.addEventListener('abort', onAbort, { once: true });
    if (input.signal?.aborted) onAbort();

    try {
      const stream = got.stream(input.url, {
        method,
        ...(method === 'POST' ? { body } : {}),
        headers: sent,
        agent: deps.agents,
        retry: { limit: 0 },
        followRedirect: false,
        throwHttpErrors: false,
        decompress: false,
        signal: stop.signal,
      });
      // The loop below handles the first error; a later one (a socket that closes late) must not end the process.
      stream.on('error', () => undefined);
      stream.once('request', (request) => {
        const { authorization: _secret, ...headers } = flatten(request.getHeaders());
        sent = headers;
      });
      stream.once('response', (response) => {
        state.head = { status: response.statusCode, headers: storedHeaders(response.headers) };
      });
      for await (const chunk of stream as AsyncIterable<Uint8Array>) {
        chunks.push(chunk.subarray(0, ANSWER_CAP_BYTES - size));
        size += chunk.length;
        if (size > ANSWER_CAP_BYTES) {
          state.end = 'too_large';
          state.failure = new Error(`the answer is longer than ${ANSWER_CAP_BYTES} bytes`);
          break;
        }
      }
    } catch (error) {
      if (state.end === 'complete') state.end = 'broken';
      state.failure =
        state.end === 'timeout' ? new Error(`no complete answer within ${Math.round(input.timeoutMs)} ms`) : error;
    } finally {
      clearTimeout(deadline);
      input.signal?.removeEventListener('abort', onAbort);
    }

    const { head, end, failure } = state;
    return {
      end,
      errorCode: end === 'broken' ? errorCodeOf(failure) : null,
      exchange: {
        source: input.source,
        startedAt,
        durationMs: Math.round(performance.now() - start),
        request: { method, url: withoutUserInfo(input.url), headers: sent, body: new TextEncoder().encode(body) },
        response: head === null ? null : { ...head, body: Buffer.concat(chunks), complete: end === 'complete' },
        error: failure === null ? null : describe(failure),
      },
    };
  };
