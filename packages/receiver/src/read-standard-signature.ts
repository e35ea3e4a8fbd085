import { createHmac } from 'node:crypto';
import { readHeader, readHeaderValues } from './read-header.js';
import { readTimestamp } from './read-timestamp.js';
import type { SignedParts } from './signed-parts.js';
import { VerificationError } from './verification-error.js';

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
