import { createDecipheriv, createSecretKey } from 'node:crypto';
import { SealedSecretError } from './sealed-secret-error.js';
import { sealingKey } from './sealing-key.js';

const NONCE_AT = 5;
const TAG_AT = 17;
const TEXT_AT = 33;

/** The secret that `sealSecret` sealed for this account. Throws SealedSecretError when it does not open. */
export type OpenSecret = (accountId: string, sealed: Uint8Array) => string;

/** Opens many with one master key, which is derived from once. */
export const createSecretOpener = (masterKey: string): OpenSecret => {
  const derived = sealingKey(masterKey);
  const { header } = derived;
  const key = createSecretKey(derived.key);
  return (accountId, sealed) => {
    const bytes = Buffer.from(sealed);
    if (bytes.length <= TEXT_AT || bytes[0] !== header[0]) throw new SealedSecretError('format');
    if (!bytes.subarray(0, NONCE_AT).equals(header)) throw new SealedSecretError('key');

    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(NONCE_AT, TAG_AT), { authTagLength: 16 })
      .setAAD(Buffer.concat([header, Buffer.from(accountId)]))
      .setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
    try {
      return decipher.update(bytes.subarray(TEXT_AT), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SealedSecretError('integrity');
    }
  };
};
