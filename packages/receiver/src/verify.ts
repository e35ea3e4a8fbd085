import { timingSafeEqual } from 'node:crypto';
import { readEvent, type WebhookEvent } from './events.js';
import {
  type ReceivedHeaders,
  readHeader,
  readServiceSignature,
  readStandardSignature,
  type SignedParts,
} from './signature-headers.js';
import { VerificationError } from './verification-error.js';

type Deps = {
  /** Constant-time comparison of two equally long byte strings: `timingSafeEqual` of node:crypto. */
  equal: (left: Uint8Array, right: Uint8Array) => boolean;
};

/**
 * Whether one of the received signatures equals one of the expected ones. Every pair is compared completely, also after a
 * match, so that the duration does not reveal how much of a forged signature is correct.
 *
 * Signatures are raw digests of 32 bytes; a signature of another length never matches.
 */
export const matchSignatures =
  ({ equal }: Deps) =>
  (received: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean =>
    received
      .flatMap((mine) => expected.map((theirs) => mine.length === theirs.length && equal(mine, theirs)))
      .includes(true);

export type VerifyInput = {
  headers: ReceivedHeaders;
  /** The body as received. After parsing and serialising, its bytes may differ and the signature does not match. */
  rawBody: string | Uint8Array;
  /** `whsec_…` as shown when the webhook was saved; a list while an old and a new one are both in use. */
  secret: string | readonly string[];
  /** Seconds that the timestamp may differ from this machine's clock, in either direction; 300 by default. */
  tolerance?: number | undefined;
  /** This machine's clock; `() => new Date()` by default. */
  now?: (() => Date) | undefined;
};

/** A delivery with verified signatures. */
export type VerifiedDelivery = {
  event: WebhookEvent;
  /**
   * Id of the event, the same at every attempt and resend: store it to handle each event once. Null when the request has
   * no Standard Webhooks signature, the only one that covers the id.
   */
  id: string | null;
  /** Id of this delivery in the service's log, for support requests. Not signed. */
  deliveryId: string | null;
  /** The time of this attempt. */
  sentAt: Date;
};

/**
 * Verifies a webhook delivery and returns its event. A delivery has two signatures, the service's own and that of
 * Standard Webhooks. Each one that is present must be correct, and at least one must be present.
 *
 * Throws only {@link VerificationError}; its `code` is the reason.
 */
export const verify = ({ headers, rawBody, secret, tolerance = 300, now }: VerifyInput): VerifiedDelivery => {
  const body = rawBytesOf(rawBody);
  const secrets = secretsOf(secret);
  const standard = readStandardSignature(headers, body, secrets);
  const found = [readServiceSignature(headers, body, secrets), standard].filter((parts) => parts !== null);
  const [first] = found;
  if (!first) throw new VerificationError('MISSING_HEADER', 'there is no signature header');
  for (const parts of found) assertSigned(parts);
  const clock = now ? now() : new Date();
  for (const parts of found) assertRecent(parts, tolerance, clock);
  return {
    event: readEvent(body),
    id: standard?.id ?? null,
    deliveryId: readHeader(headers, 'x-service-delivery'),
    sentAt: new Date(first.timestamp * 1000),
  };
};

const rawBytesOf = (body: unknown): string | Uint8Array => {
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  throw new VerificationError('BODY_NOT_RAW', 'the body is neither text nor bytes; verify it before it is parsed');
};

const secretsOf = (secret: unknown): readonly string[] => {
  const secrets: unknown[] = Array.isArray(secret) ? secret : [secret];
  const texts = secrets.filter((text): text is string => typeof text === 'string' && text !== '');
  if (texts.length > 0 && texts.length === secrets.length) return texts;
  throw new VerificationError('INVALID_SECRET', 'a secret is missing or empty');
};

const isSigned = matchSignatures({ equal: timingSafeEqual });

const assertSigned = ({ header, received, expected }: SignedParts): void => {
  if (!isSigned(received, expected))
    throw new VerificationError('SIGNATURE_MISMATCH', `${header} was made with another secret or of another body`);
};

const assertRecent = ({ timestamp }: SignedParts, tolerance: number, now: Date): void => {
  const age = now.getTime() / 1000 - timestamp;
  // This form refuses the delivery when `age` or `tolerance` is NaN.
  if (Math.abs(age) <= tolerance) return;
  const message = `the delivery is ${Math.abs(age)} s ${age < 0 ? 'ahead of' : 'behind'} this clock, ${tolerance} s are allowed`;
  throw new VerificationError('TIMESTAMP_OUTSIDE_TOLERANCE', message);
};
