import { VerificationError, type VerificationErrorCode } from './verification-error.js';
import { type VerifiedDelivery, verify } from './verify.js';

/** The part of a request of Express or Node that this package uses. */
export type RawRequest = {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The result of a body parser. */
  body?: unknown;
  /** The raw bytes, which some hosts provide beside the parsed body. */
  rawBody?: unknown;
  /** True when a parser has read the stream to its end. */
  readableEnded: boolean;
  /** True when the connection is closed. */
  destroyed: boolean;
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  off(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
};

/**
 * The bytes of a body, or the reason why there are none: it is too large, or the sender disconnected before its end.
 */
export type RawBody = { bytes: string | Uint8Array } | { tooLarge: true } | { gone: true };

/**
 * Reads the bytes of a request's body: those from `express.raw()` or `express.text()`, or else at most `maxBytes` of the
 * stream. Throws BODY_NOT_RAW when a parser has consumed the stream and stored no bytes.
 */
export const readRawBody = async (request: RawRequest, maxBytes: number): Promise<RawBody> => {
  const raw = [request.rawBody, request.body].find((body) => typeof body === 'string' || body instanceof Uint8Array);
  if (typeof raw === 'string' || raw instanceof Uint8Array) return { bytes: raw };
  if (request.readableEnded)
    throw new VerificationError(
      'BODY_NOT_RAW',
      'a body parser read the request first; put the webhook before express.json()',
    );
  // The stream has already emitted its events, so waiting for them would never end.
  if (request.destroyed) return { gone: true };
  return readStream(request, maxBytes);
};

const readStream = (request: RawRequest, maxBytes: number): Promise<RawBody> =>
  new Promise((resolve) => {
    const chunks: Uint8Array[] = [];
    let length = 0;
    const onData = (chunk: Uint8Array) => {
      length += chunk.length;
      if (length <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The rest of the stream is still read and dropped: closing a connection with unread data resets it, and the
      // answer is lost.
      request.off('data', onData);
      chunks.length = 0;
      resolve({ tooLarge: true });
    };
    request.on('data', onData);
    request.on('end', () => resolve({ bytes: Buffer.concat(chunks) }));
    request.on('error', () => resolve({ gone: true }));
    request.on('close', () => resolve({ gone: true }));
  });

/** The part of a response of Express or Node that this package uses. */
export type RawResponse = {
  writeHead(status: number, headers?: Record<string, string>): unknown;
  end(text?: string): unknown;
};

export type ExpressWebhookOptions = {
  /** `whsec_…`, or a list while an old and a new one are both in use. */
  secret: string | readonly string[];
  /**
   * Handles a delivery. The answer is 204 when it resolves and 500 when it throws; after a 500 the service retries. The
   * service waits 10 seconds in total: if handling takes longer, store the event and process it later.
   */
  handle: (delivery: VerifiedDelivery) => unknown;
  /**
   * Whether the event with this id (`webhook-id`) was already handled; if so, the answer is 204 at once. Deliveries
   * come at least once, so `handle` should record the id in the transaction of its effects.
   */
  alreadyHandled?: (id: string) => boolean | Promise<boolean>;
  /**
   * Called for everything that is not answered with 2xx: with a {@link VerificationError}, or with what a given
   * function threw.
   */
  onError: (error: unknown) => void;
  /** Seconds that the timestamp may differ from this machine's clock; 300 by default. */
  tolerance?: number;
  /** Maximum bytes of the body; 1 MiB by default. The answer to a larger one is 413. */
  maxBytes?: number;
  now?: () => Date;
};

/** 4xx is the fault of the sender, 500 that of the receiver. The service retries all of them. */
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
 * A request handler for Express 4 and 5, and for `http.createServer`, that verifies deliveries and passes them to
 * `handle`. Mount it before `express.json()`, or after `express.raw({ type: 'application/json' })`:
 *
 *     app.post('/webhooks/vat', expressWebhook({ secret, handle, onError }));
 *
 * The answer to a refused delivery is the error's code and message as text, which the delivery log of the service shows.
 */
export const expressWebhook = (options: ExpressWebhookOptions) => {
  const { secret, handle, alreadyHandled, onError, tolerance, maxBytes = 1024 * 1024, now } = options;

  const receive = async (request: RawRequest): Promise<Received> => {
    try {
      const body = await readRawBody(request, maxBytes);
      if ('gone' in body)
        return { answer: null, error: new Error('the sender disconnected before the end of the body') };
      if ('tooLarge' in body) return refusal(413, new Error(`BODY_TOO_LARGE: more than ${maxBytes} bytes`));
      return { delivery: verify({ headers: request.headers, rawBody: body.bytes, secret, tolerance, now }) };
    } catch (error) {
      if (!(error instanceof VerificationError)) throw error;
      return refusal(STATUS[error.code], error, `${error.code}: ${error.message}`);
    }
  };

  const runHandler = async (delivery: VerifiedDelivery): Promise<Outcome> => {
    try {
      const isRepeat = delivery.id !== null && (await alreadyHandled?.(delivery.id));
      if (!isRepeat) await handle(delivery);
      return { answer: { status: 204, text: '' }, error: null };
    } catch (error) {
      // An error of the handler may contain anything, so it is not sent.
      return { answer: { status: 500, text: 'HANDLER_FAILED: verified, but could not be handled' }, error };
    }
  };

  return async (request: RawRequest, response: RawResponse): Promise<void> => {
    const received = await receive(request);
    const { answer, error } = 'delivery' in received ? await runHandler(received.delivery) : received;
    if (answer) send(response, answer);
    if (error !== null) onError(error);
  };
};

type Answer = { status: number; text: string };
/** `answer` is null when the sender has disconnected; `error` is null when the delivery was handled. */
type Outcome = { answer: Answer | null; error: unknown };
type Received = Outcome | { delivery: VerifiedDelivery };

const refusal = (status: number, error: Error, text = error.message): Outcome => ({ answer: { status, text }, error });

const send = (response: RawResponse, { status, text }: Answer): void => {
  const type = text === '' ? {} : { 'content-type': 'text/plain; charset=utf-8' };
  // The answer does not wait for the rest of a body that is too large.
  response.writeHead(status, status === 413 ? { ...type, connection: 'close' } : type);
  response.end(text);
};
