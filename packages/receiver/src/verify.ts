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
 * Whether one of the received signatures is one of the expected ones. Every pair is compared, all bytes of it, also after
 * a match, so that the time taken says nothing about how much of a forged signature was right.
 *
 * Signatures are raw digests of 32 bytes; one of another length matches nothing.
 */
export const matchSignatures =
  ({ equal }: Deps) =>
  (received: readonly Uint8Array[], expected: readonly Uint8Array[]): boolean =>
    received
      .flatMap((mine) => expected.map((theirs) => mine.length === theirs.length && equal(mine, theirs)))
      .includes(true);

export type VerifyInput = {
  headers: ReceivedHeaders;
  /** The body as it came over the wire. Parsed and serialised again it is another text, and no signature holds. */
  rawBody: string | Uint8Array;
  /** `whsec_…` as shown when the webhook was saved; a list while an old and a new one are both in use. */
  secret: string | readonly string[];
  /** Seconds that the timestamp may differ from this machine's clock, either way. 300 when not given. */
  tolerance?: number | undefined;
  /** This machine's clock. */
  now?: (() => Date) | undefined;
};

/** A delivery that is believed. */
export type VerifiedDelivery = {
  event: WebhookEvent;
  /**
   * Id of the event, the same at every attempt and resend: remember it to handle each event once. Null when the request
   * carried no Standard Webhooks signature, the only one that covers the id.
   */
  id: string | null;
  /** Id of this delivery in the service's log, to be named in questions. Not signed. */
  deliveryId: string | null;
  /** When this attempt was made. */
  sentAt: Date;
};

/**
 * Verifies a webhook delivery and returns its event. It carries two signatures, the service's own and that of Standard
 * Webhooks: each one that is there must hold, and one must be there.
 *
 * Throws nothing but {@link VerificationError}; its `code` says why.
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
  // Written so that NaN, from a tolerance or clock that is none, refuses instead of letting everything in.
  if (Math.abs(age) <= tolerance) return;
  const message = `the delivery is ${Math.abs(age)} s ${age < 0 ? 'ahead of' : 'behind'} this clock, ${tolerance} s are allowed`;
  throw new VerificationError('TIMESTAMP_OUTSIDE_TOLERANCE', message);
};
