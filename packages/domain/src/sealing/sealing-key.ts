import { hkdfSync } from 'node:crypto';

/** What seals texts: the AES-256 key, and the header (format byte, 4 bytes of key id) it writes in front. */
export type SealingKey = { key: Buffer; header: Buffer };

/** What is sealed. Each purpose has a key of its own. */
export type SealedPurpose = 'webhook secret' | 'development authority';

const FORMAT = 1;

/**
 * Derives both from SECRET_KEY by HKDF-SHA-256 under labels of their own, so that the same master key can serve
 * sessions too, and so that the key id, which is stored in the clear, says nothing about the key.
 */
export const sealingKey = (masterKey: string, purpose: SealedPurpose): SealingKey => {
  const derive = (label: string, bytes: number) => Buffer.from(hkdfSync('sha256', masterKey, '', label, bytes));
  return {
    key: derive(`vat ${purpose}: key 1`, 32),
    header: Buffer.concat([Buffer.of(FORMAT), derive(`vat ${purpose}: key id 1`, 4)]),
  };
};
