import { createHmac } from 'node:crypto';
import { VerificationError } from './verification-error.js';

/** What one signature scheme found in a delivery's headers, with the digests that would be right. */
export type SignedParts = {
  /** Header that carried the signature, for messages. */
  header: string;
  /** Unix seconds, as signed. */
  timestamp: number;
  /** Id of the event, when it is part of what is signed. */
  id: string | null;
  /** Digests found in the header. */
  received: readonly Uint8Array[];
  /** One right digest a secret. */
  expected: readonly Uint8Array[];
};

/**
 * Headers as any server hands them over: Node's and Express's object, a `Headers` of the Fetch API, or a plain object in
 * any case.
 */
export type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

type HasGet = { get(name: string): unknown };

const hasGet = (headers: object): headers is HasGet => 'get' in headers && typeof headers.get === 'function';

/**
 * Every value of one header, whatever the case of its name; empty values are no values. Never throws, not even for headers
 * that are none at all.
 *
 * @param name in lower case
 */
const readHeaderValues = (headers: unknown, name: string): string[] => {
  if (typeof headers !== 'object' || headers === null) return [];
  const found = hasGet(headers)
    ? [headers.get(name)]
    : Object.entries(headers).flatMap(([key, value]: [string, unknown]) => (key.toLowerCase() === name ? value : []));
  return found.filter((value): value is string => typeof value === 'string' && value !== '');
};

/**
 * The one value of a header; null when it is absent. Two different values throw MALFORMED_HEADER: choosing one would let
 * somebody on the way decide which.
 */
export const readHeader = (headers: unknown, name: string): string | null => {
  const [value, ...others] = new Set(readHeaderValues(headers, name));
  if (others.length > 0) throw new VerificationError('MALFORMED_HEADER', `${name} was sent with different values`);
  return value ?? null;
};

/**
 * The text of a timestamp header: Unix seconds in decimal, returned as sent, because the text itself is signed. Throws
 * MISSING_HEADER or MALFORMED_HEADER.
 */
const readTimestamp = (headers: unknown, name: string): string => {
  const text = readHeader(headers, name);
  if (text === null) throw new VerificationError('MISSING_HEADER', `${name} is missing`);
  if (!/^\d{1,12}$/.test(text)) throw new VerificationError('MALFORMED_HEADER', `${name} is no number of Unix seconds`);
  return text;
};

/**
 * The service's own scheme: `X-Service-Signature: sha256=<hex>` is the HMAC-SHA256 of timestamp, dot and body, keyed with
 * the secret's text as shown, `whsec_` included. Null when the header is absent. Source: contract part 1 §5, part 2 §8.
 */
export const readServiceSignature = (
  headers: unknown,
  body: string | Uint8Array,
  secrets: readonly string[],
): SignedParts | null => {
  const header = 'x-service-signature';
  const signature = readHeader(headers, header);
  if (signature === null) return null;
  const timestamp = readTimestamp(headers, 'x-service-timestamp');
  const [, hex] = /^sha256=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (!hex) throw new VerificationError('MALFORMED_HEADER', `${header} is not sha256= and 64 lowercase hex digits`);
  return {
    header,
    timestamp: Number(timestamp),
    id: null,
    received: [Buffer.from(hex, 'hex')],
    expected: secrets.map((secret) => createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest()),
  };
};

/**
 * The Standard Webhooks scheme: `webhook-signature` is a list, separated by spaces, of `v1,<base64>`, each the HMAC-SHA256
 * of id, dot, timestamp, dot and body, keyed with the bytes that the secret encodes after `whsec_`. Entries of other
 * versions are passed over, as the specification asks. Null when the header is absent.
 */
export const readStandardSignature = (
  headers: unknown,
  body: string | Uint8Array,
  secrets: readonly string[],
): SignedParts | null => {
  const header = 'webhook-signature';
  const signatures = readHeaderValues(headers, header);
  if (signatures.length === 0) return null;
  const id = readHeader(headers, 'webhook-id');
  if (id === null) throw new VerificationError('MISSING_HEADER', 'webhook-id is missing');
  const timestamp = readTimestamp(headers, 'webhook-timestamp');
  const received = signatures.flatMap((list) => list.split(' ')).flatMap(readEntry);
  if (received.length === 0) throw new VerificationError('MALFORMED_HEADER', `${header} holds no v1 signature`);
  return {
    header,
    timestamp: Number(timestamp),
    id,
    received,
    expected: secrets.map((secret) =>
      createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body).digest(),
    ),
  };
};

/** 43 characters and one of padding are the 32 bytes of SHA-256. */
const readEntry = (entry: string): Uint8Array[] => {
  const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
  return base64 ? [Buffer.from(base64, 'base64')] : [];
};

const keyOf = (secret: string): Uint8Array => {
  const [, base64] = /^whsec_([A-Za-z0-9+/]{2,}={0,2})$/.exec(secret) ?? [];
  // Without this, a cut-off secret would become an empty key, which anybody can sign with.
  if (!base64) throw new VerificationError('INVALID_SECRET', 'a secret is not whsec_ followed by base64');
  return Buffer.from(base64, 'base64');
};
