import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { CheckHashError } from './errors.js';

const PROFILE = 'jcs-sha256-v1';

/** Throws for a value that implementations of RFC 8785 write differently. The service hashes none. */
const assertHashable = (value: unknown, path: string): void => {
  const fail = (what: string) => new CheckHashError('NOT_HASHABLE', `${path} ${what}; no check of the service does`);
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw fail('is not an integer');
  if (typeof value === 'string' && (value.includes('\u007f') || !value.isWellFormed()))
    throw fail('contains a character that is not hashed');
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && !/^[a-z0-9_]+$/.test(key)) throw fail(`has the key ${JSON.stringify(key)}`);
    assertHashable(inner, `${path}.${key}`);
  }
};

/** The text that is hashed: the RFC 8785 form of a check without `response_hash`, `timestamp` and `anchor`. */
const hashedText = (check: object): string => {
  const { response_hash: _hash, timestamp: _timestamp, anchor: _anchor, ...hashed } = check as Record<string, unknown>;
  assertHashable(hashed, 'check');
  return canonicalize(hashed) ?? '';
};

/**
 * Verifies that a check has the content that the service hashed. Pass the body of `GET /v1/checks/{id}`, of a list or of a 201
 * as parsed. Returns the hashed text, and throws {@link CheckHashError} when it does not verify.
 */
export const verifyCheck = (check: unknown): string => {
  const stated = typeof check === 'object' && check !== null && 'response_hash' in check ? check.response_hash : null;
  if (typeof check !== 'object' || check === null || typeof stated !== 'string')
    throw new CheckHashError('HASH_MISSING', 'there is no response_hash');
  const profile = 'hash_profile' in check ? check.hash_profile : undefined;
  if (profile !== PROFILE)
    throw new CheckHashError('UNKNOWN_PROFILE', `the hash profile is ${String(profile)}, not ${PROFILE}`);
  const text = hashedText(check);
  const actual = `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
  if (stated !== actual)
    throw new CheckHashError('HASH_MISMATCH', `response_hash is ${stated}, but the hash is ${actual}`);
  return text;
};
