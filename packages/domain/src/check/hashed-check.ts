import type { CheckBody, PublicCheck } from './check-body.js';

/** A check ready to be recorded: `bytes` is the RFC 8785 form of `body`, `hash` its SHA-256 (32 bytes). */
export type HashedCheck = { body: CheckBody; bytes: Uint8Array; hash: Uint8Array };

/** Port: canonicalises and hashes a check's body. Throws when the body is not JCS-safe. */
export type HashCheck = (body: CheckBody) => HashedCheck;

/** A recorded check, as the database gives it back. */
export type StoredCheck = { id: string; bytes: Uint8Array; hash: Uint8Array };

/** The check object of the API from the bytes that were hashed, so that what is served is what was recorded. */
export const publicCheck = (check: Pick<StoredCheck, 'bytes' | 'hash'>): PublicCheck => ({
  ...(JSON.parse(Buffer.from(check.bytes).toString('utf8')) as CheckBody),
  response_hash: `sha256:${Buffer.from(check.hash).toString('hex')}`,
  timestamp: null,
  anchor: null,
});
