import { createCipheriv, randomBytes } from 'node:crypto';
import { type SealedPurpose, sealingKey } from './sealing-key.js';

/** How a text is sealed: SECRET_KEY, what for, and to what it is bound (an account, say), so that it opens nowhere else. */
export type Seal = { masterKey: string; purpose: SealedPurpose; boundTo: string };

/** A text as it is stored: format (1 byte), key id (4), nonce (12), tag (16), AES-256-GCM ciphertext. */
export const sealText = ({ masterKey, purpose, boundTo }: Seal, text: string): Buffer => {
  const { key, header } = sealingKey(masterKey, purpose);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.concat([header, Buffer.from(boundTo)]));
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), sealed]);
};
