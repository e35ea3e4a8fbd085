import { createHmac } from 'node:crypto';
import { VerificationError } from './verification-error.js';

/** The signatures of one scheme in a delivery's headers, with the expected digests. */
export type SignedParts = {
  /** Name of the signature header, for messages. */
  header: string;
  /** Unix seconds, as signed. */
  timestamp: number;
  /** Id of the event, if the signature covers it. */
  id: string | null;
  /** The digests in the header. */
  received: readonly Uint8Array[];
  /** The expected digest for each secret. */
  expected: readonly Uint8Array[];
};

/**
 * Headers as servers provide them: Node's and Express's object, a `Headers` of the Fetch API, or a plain object with
 * names in any case.
 */
export type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

type HasGet = { get(name: string): unknown };

const hasGet = (headers: object): headers is HasGet => 'get' in headers && typeof headers.get === 'function';

/**
 * All non-empty values of one header; the case of its name is ignored. Never throws, not even when `headers` is not an
 * object.
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
 * The value of a header; null when it is absent. Throws MALFORMED_HEADER for two different values: choosing one would let
 * an intermediary decide which one counts.
 */
export const readHeader = (headers: unknown, name: string): string | null => {
  const [value, ...others] = new Set(readHeaderValues(headers, name));
  if (others.length > 0) throw new VerificationError('MALFORMED_HEADER', `${name} was sent with different values`);
  return value ?? null;
};

/**
 * The text of a timestamp header: Unix seconds in decimal. It is returned as received, because the text itself is signed.
 * Throws MISSING_HEADER or MALFORMED_HEADER.
 */
const readTimestamp = (headers: unknown, name: string): string => {
  const text = readHeader(headers, name);
  if (text === null) throw new VerificationError('MISSING_HEADER', `${name} is missing`);
  if (!/^\d{1,12}$/.test(text))
    throw new VerificationError('MALFORMED_HEADER', `${name} is not a number of Unix seconds`);
  return text;
};

/**
 * The service's own scheme: `X-Service-Signature: sha256=<hex>` is the HMAC-SHA256 of timestamp, dot and body. The key is
 * the secret's text as shown, including `whsec_`. Null when the header is absent.
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
 * The Standard Webhooks scheme: `webhook-signature` is a list, separated by spaces, of `v1,<base64>`, each the
 * HMAC-SHA256 of id, dot, timestamp, dot and body. The key is the decoded base64 after `whsec_`. Entries of other
 * versions are ignored, as the specification requires. Null when the header is absent.
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
  if (received.length === 0) throw new VerificationError('MALFORMED_HEADER', `${header} contains no v1 signature`);
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

/** The 32 bytes of SHA-256 are 43 characters and one of padding. */
const readEntry = (entry: string): Uint8Array[] => {
  const [, base64] = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(entry) ?? [];
  return base64 ? [Buffer.from(base64, 'base64')] : [];
};

const keyOf = (secret: string): Uint8Array => {
  const [, base64] = /^whsec_([A-Za-z0-9+/]{2,}={0,2})$/.exec(secret) ?? [];
  // Without this check a truncated secret would become an empty key, with which anyone can sign.
  if (!base64) throw new VerificationError('INVALID_SECRET', 'a secret is not whsec_ followed by base64');
  return Buffer.from(base64, 'base64');
};
