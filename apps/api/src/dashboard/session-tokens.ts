import { createHash, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';

/** What sessions are recognised by. Each kind of value has a key of its own, derived from SECRET_KEY. */
export type SessionTokens = {
  /** A new session's token: 32 random bytes, base64url. It is in the cookie and nowhere else. */
  issue: () => string;
  /** The only form in which a token is stored: SHA-256. */
  hash: (token: string) => Buffer;
  /** The CSRF token of a session. Derived from the session's own, so that it can be shown again and never mixed up. */
  csrfOf: (token: string) => string;
  isCsrfOf: (token: string, given: string) => boolean;
  /** The form in which an address with wrong sign-ins is stored. */
  hashAddress: (email: string) => Buffer;
};

/** Derives the keys by HKDF-SHA-256 under labels of their own, as webhook secrets do. */
export const sessionTokens = (masterKey: string): SessionTokens => {
  const derive = (label: string) => Buffer.from(hkdfSync('sha256', masterKey, '', label, 32));
  const csrfKey = derive('vat dashboard csrf token: key 1');
  const addressKey = derive('vat dashboard sign-in address: key 1');
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const csrfOf = (token: string) => createHmac('sha256', csrfKey).update(token).digest('base64url');
  return {
    issue: () => randomBytes(32).toString('base64url'),
    hash,
    csrfOf,
    // Hashed first, since what is compared in constant time must be of one length.
    isCsrfOf: (token, given) => timingSafeEqual(hash(csrfOf(token)), hash(given)),
    hashAddress: (email) => createHmac('sha256', addressKey).update(email).digest(),
  };
};
