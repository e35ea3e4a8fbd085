import { VerificationError, type VerificationErrorCode } from './verification-error.js';
import { type VerifiedDelivery, verify } from './verify.js';

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

/** What is used of a response of Express or of Node itself. */
export type RawResponse = {
  writeHead(status: number, headers?: Record<string, string>): unknown;
  end(text?: string): unknown;
};

export type ExpressWebhookOptions = {
  /** `whsec_…`, or a list while an old and a new one are both in use. */
  secret: string | readonly string[];
  /**
   * What to do with a delivery. 204 is answered when it resolves; when it throws, 500, and the service tries again. The
   * service waits 10 seconds in all: keep the event and work later if it takes longer.
   */
  handle: (delivery: VerifiedDelivery) => unknown;
  /**
   * Whether the event of this id (`webhook-id`) was handled before: then 204 is answered at once. Deliveries come at least
   * once, so `handle` should record the id in the transaction of its effects.
   */
  alreadyHandled?: (id: string) => boolean | Promise<boolean>;
  /** Hears of everything not answered 2xx: a {@link VerificationError}, or what a function given here threw. */
  onError: (error: unknown) => void;
  /** Seconds; 300 when not given. */
  tolerance?: number;
  /** Bytes of body that are read at most; 1 MiB when not given. Above it 413 is answered. */
  maxBytes?: number;
  now?: () => Date;
};

/** 4xx is the sender's doing, 500 the receiver's. The service retries all of them alike. */
const STATUS: Readonly<Record<VerificationErrorCode, number>> = {
  MALFORMED_HEADER: 400,
  MISSING_HEADER: 400,
  INVALID_BODY: 400,
  SIGNATURE_MISMATCH: 401,
  TIMESTAMP_OUTSIDE_TOLERANCE: 401,
  BODY_NOT_RAW: 500,
  INVALID_SECRET: 500,
};

/**
 * A request handler for Express 4 and 5, and for `http.createServer`, that verifies deliveries and hands them on. Mount it
 * before `express.json()`, or after `express.raw({ type: 'application/json' })`:
 *
 *     app.post('/webhooks/vat', expressWebhook({ secret, handle, onError }));
 *
 * What is refused is answered with the error's code and message as text, which the delivery log of the service shows.
 */
export const expressWebhook = (options: ExpressWebhookOptions) => {
  const { secret, handle, alreadyHandled, onError, tolerance, maxBytes = 1024 * 1024, now } = options;

  const receive = async (request: RawRequest): Promise<Received> => {
    try {
      const body = await readRawBody(request, maxBytes);
      if ('gone' in body) return { answer: null, error: new Error('the sender went away before the end of the body') };
      if ('tooLarge' in body) return refusal(413, new Error(`BODY_TOO_LARGE: more than ${maxBytes} bytes`));
      return { delivery: verify({ headers: request.headers, rawBody: body.bytes, secret, tolerance, now }) };
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return refusal(STATUS[error.code], error, `${error.code}: ${error.message}`);
    }
  };

  const pass = async (delivery: VerifiedDelivery): Promise<Outcome> => {
    try {
      const isRepeat = delivery.id !== null && (await alreadyHandled?.(delivery.id));
      if (!isRepeat) await handle(delivery);
      return { answer: { status: 204, text: '' }, error: null };
    } catch (error) {
      // What a handler throws may hold anything, so the sender is not told.
      return { answer: { status: 500, text: 'HANDLER_FAILED: verified, but could not be handled' }, error };
    }
  };

  return async (request: RawRequest, response: RawResponse): Promise<void> => {
    const received = await receive(request);
    const { answer, error } = 'delivery' in received ? await pass(received.delivery) : received;
    if (answer) send(response, answer);
    if (error !== null) onError(error);
  };
};

type Answer = { status: number; text: string };
/** `answer` is null when nobody is there to read one, `error` when all went well. */
type Outcome = { answer: Answer | null; error: unknown };
type Received = Outcome | { delivery: VerifiedDelivery };

const refusal = (status: number, error: Error, text = error.message): Outcome => ({ answer: { status, text }, error });

const send = (response: RawResponse, { status, text }: Answer): void => {
  const type = text === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' };
  // The rest of a body that is too large is not waited for.
  response.writeHead(status, status === 413 ? { ...type, connection: 'close' } : type);
  response.end(text);
};
