import { SealedTextError } from '@vat/domain';
import { newWebhookSecret, openSecret, sealSecret, secretPrefix } from './webhook-secret.js';

const MASTER = 'master key of the tests';
const ACCOUNT = '0192f3a0-0000-7000-8000-000000000001';

const reasonOf = (open: () => unknown): string => {
  try {
    open();
  } catch (error) {
    if (error instanceof SealedTextError) return error.reason;
    throw error;
  }
  return 'opened';
};

describe('a new secret', () => {
  test('is whsec_ and 32 bytes in base64, different each time', () => {
    const secrets = Array.from({ length: 50 }, newWebhookSecret);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(Buffer.from(secret.slice(6), 'base64')).toHaveLength(32);
    }
    expect(new Set(secrets).size).toBe(50);
  });

  test('shows its first eight characters', () => {
    expect(secretPrefix('whsec_AbCdEf')).toBe('whsec_Ab');
  });
});

describe('sealing', () => {
  const secret = newWebhookSecret();
  const sealed = sealSecret(MASTER, ACCOUNT, secret);

  test('opens for the same account under the same master key', () => {
    expect(openSecret(MASTER, ACCOUNT, sealed)).toBe(secret);
    expect(openSecret(MASTER, ACCOUNT, Uint8Array.from(sealed))).toBe(secret);
  });

  test('contains neither the secret nor its bytes in plain text, and differs each time', () => {
    expect(sealed.includes(secret)).toBe(false);
    expect(sealed.includes(Buffer.from(secret.slice(6), 'base64'))).toBe(false);
    expect(sealSecret(MASTER, ACCOUNT, secret).equals(sealed)).toBe(false);
  });

  test('does not open for another account', () => {
    expect(reasonOf(() => openSecret(MASTER, `${ACCOUNT}2`, sealed))).toBe('integrity');
  });

  test('reports another master key', () => {
    expect(reasonOf(() => openSecret('another', ACCOUNT, sealed))).toBe('key');
  });

  test('does not open when any bit is changed or the end is missing', () => {
    const opened = Array.from(sealed, (byte, index) => {
      const damaged = Buffer.from(sealed);
      damaged[index] = byte ^ 1;
      return reasonOf(() => openSecret(MASTER, ACCOUNT, damaged));
    });
    expect(opened).not.toContain('opened');
    expect(reasonOf(() => openSecret(MASTER, ACCOUNT, sealed.subarray(0, -1)))).toBe('integrity');
    expect(reasonOf(() => openSecret(MASTER, ACCOUNT, sealed.subarray(0, 20)))).toBe('format');
    expect(reasonOf(() => openSecret(MASTER, ACCOUNT, Buffer.alloc(0)))).toBe('format');
  });
});
