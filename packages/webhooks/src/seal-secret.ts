import { createCipheriv, randomBytes } from 'node:crypto';
import { sealingKey } from './sealing-key.js';

/**
 * A webhook secret as it is stored: format (1 byte), key id (4), nonce (12), tag (16), AES-256-GCM ciphertext. Bound to
 * the account, so that a row copied to another account does not open there.
 */
export const sealSecret = (masterKey: string, accountId: string, secret: string): Buffer => {
  const { key, header } = sealingKey(masterKey);
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.concat([header, Buffer.from(accountId)]));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
  return Buffer.concat([header, nonce, cipher.getAuthTag(), sealed]);
};
