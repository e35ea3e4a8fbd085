import { createHash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SECRET_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^vat_(live|test)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

const base62 = (n: number, length: number): string => {
  let rest = n;
  let text = '';
  for (let i = 0; i < length; i += 1) {
    text = ALPHABET[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
};

const checksum = (head: string): string => base62(crc32(head), CHECKSUM_LENGTH);

/**
 * A new API key: `vat_live_` or `vat_test_`, 30 random base62 characters (178 bits), and the CRC32 of all these in 6 base62
 * digits, so that typos and scanner traffic are rejected without a database query.
 */
export const newApiKey = (test: boolean): string => {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(62)]).join('');
  const head = `vat_${test ? 'test' : 'live'}_${secret}`;
  return head + checksum(head);
};

/** True when `key` has the form and the checksum of a key; it may still not exist. */
export const isApiKeyForm = (key: string): boolean => {
  if (!FORM.test(key)) return false;
  const head = key.slice(0, -CHECKSUM_LENGTH);
  return key.slice(-CHECKSUM_LENGTH) === checksum(head);
};

/** The only form in which a key is stored: SHA-256 of the whole key. Its entropy makes a slow hash pointless. */
export const hashApiKey = (key: string): Buffer => createHash('sha256').update(key).digest();

/** The displayed data of a key. `hint`: its last four characters. */
export type ApiKeySummary = {
  id: string;
  name: string;
  test: boolean;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

/** Whose rows a caller may read. A test key reads test rows only; live keys and sessions read both. */
export type Reader = { accountId: string; testOnly: boolean };
