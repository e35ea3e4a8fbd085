import { createHmac } from 'node:crypto';
import { readHeader } from './read-header.js';
import { readTimestamp } from './read-timestamp.js';
import type { SignedParts } from './signed-parts.js';
import { VerificationError } from './verification-error.js';

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
