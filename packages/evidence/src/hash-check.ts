import { createHash, randomBytes } from 'node:crypto';
import type { CheckBody, HashCheck } from '@vat/domain';
import { canonicalText } from './canonical-form.js';

/** The RFC 8785 form of any JSON value as UTF-8 bytes: equal values give equal bytes. */
export const canonicalForm = (value: unknown): Buffer => Buffer.from(canonicalText(value), 'utf8');

/** The salt of a new check: 16 random bytes in hex. */
export const newSalt = (): string => randomBytes(16).toString('hex');

/**
 * The RFC 8785 (JCS) form of a check's body and its SHA-256. Throws for values that implementations of JCS treat differently
 * (numbers that are not integers, keys that sort differently in other languages).
 */
export const hashCheck: HashCheck = (body: CheckBody) => {
  assertPlain(body, 'check');
  const bytes = canonicalForm(body);
  return { body, bytes, hash: createHash('sha256').update(bytes).digest() };
};

const assertPlain = (value: unknown, path: string): void => {
  if (typeof value === 'number' && !Number.isSafeInteger(value)) throw new Error(`${path} is not an integer`);
  if (typeof value === 'string' && (/\u007f/.test(value) || !value.isWellFormed()))
    throw new Error(`${path} has a character JCS readers disagree on`);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!Array.isArray(value) && !/^[a-z0-9_]+$/.test(key)) throw new Error(`${path} has the key ${key}`);
    assertPlain(inner, `${path}.${key}`);
  }
};
