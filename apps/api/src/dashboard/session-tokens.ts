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

/**
 * Derives the keys by HKDF-SHA-256 under labels of their own, as webhook secrets do. Sessions do not depend on the key; CSRF
 * tokens of `previousKey` are accepted, so that pages which are open while SECRET_KEY is changed go on working.
 */
export const sessionTokens = (masterKey: string, previousKey?: string): SessionTokens => {
  const derive = (label: string, key = masterKey) => Buffer.from(hkdfSync('sha256', key, '', label, 32));
  const csrfKeys = [masterKey, ...(previousKey === undefined ? [] : [previousKey])].map((key) =>
    derive('vat dashboard csrf token: key 1', key),
  );
  const addressKey = derive('vat dashboard sign-in address: key 1');
  const hash = (text: string) => createHash('sha256').update(text).digest();
  const tokensOf = (token: string) =>
    csrfKeys.map((key) => createHmac('sha256', key).update(token).digest('base64url'));
  return {
    issue: () => randomBytes(32).toString('base64url'),
    hash,
    csrfOf: (token) => String(tokensOf(token)[0]),
    // Hashed first, since what is compared in constant time must be of one length.
    isCsrfOf: (token, given) => tokensOf(token).some((known) => timingSafeEqual(hash(known), hash(given))),
    hashAddress: (email) => createHmac('sha256', addressKey).update(email).digest(),
  };
};
