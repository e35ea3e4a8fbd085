import { createDecipheriv, createSecretKey } from 'node:crypto';
import type { Seal } from './seal-text.js';
import { SealedTextError } from './sealed-text-error.js';
import { sealingKey } from './sealing-key.js';

const NONCE_AT = 5;
const TAG_AT = 17;
const TEXT_AT = 33;

/** The text that `sealText` sealed for this. Throws SealedTextError when it does not open. */
export type OpenSealed = (boundTo: string, sealed: Uint8Array) => string;

/** Opens many with one master key, which is derived from once. */
export const createTextOpener = ({ masterKey, purpose }: Omit<Seal, 'boundTo'>): OpenSealed => {
  const derived = sealingKey(masterKey, purpose);
  const { header } = derived;
  const key = createSecretKey(derived.key);
  return (boundTo, sealed) => {
    const bytes = Buffer.from(sealed);
    if (bytes.length <= TEXT_AT || bytes[0] !== header[0]) throw new SealedTextError(purpose, 'format');
    if (!bytes.subarray(0, NONCE_AT).equals(header)) throw new SealedTextError(purpose, 'key');

    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(NONCE_AT, TAG_AT), { authTagLength: 16 })
      .setAAD(Buffer.concat([header, Buffer.from(boundTo)]))
      .setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
    try {
      return decipher.update(bytes.subarray(TEXT_AT), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SealedTextError(purpose, 'integrity');
    }
  };
};
