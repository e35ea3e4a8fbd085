import { createDecipheriv, createSecretKey } from 'node:crypto';
import { SealedTextError } from './sealed-text-error.js';
import { type SealedPurpose, sealingKey } from './sealing-key.js';

const NONCE_AT = 5;
const TAG_AT = 17;
const TEXT_AT = 33;

/** What opens sealed texts: SECRET_KEY, and SECRET_KEY_PREVIOUS for what was sealed before it was changed. */
export type OpeningKeys = { masterKey: string; previousKey?: string | undefined; purpose: SealedPurpose };

/** The text that `sealText` sealed for this. Throws SealedTextError when it does not open. */
export type OpenSealed = (boundTo: string, sealed: Uint8Array) => string;

/** Opens many with the same keys, which are derived from once. The key id in front of a text says which key it needs. */
export const createTextOpener = ({ masterKey, previousKey, purpose }: OpeningKeys): OpenSealed => {
  const keys = [masterKey, previousKey]
    .filter((key) => key !== undefined)
    .map((key) => sealingKey(key, purpose))
    .map(({ header, key }) => ({ header, key: createSecretKey(key) }));
  return (boundTo, sealed) => {
    const bytes = Buffer.from(sealed);
    if (bytes.length <= TEXT_AT || bytes[0] !== keys[0]?.header[0]) throw new SealedTextError(purpose, 'format');
    const used = keys.find(({ header }) => bytes.subarray(0, NONCE_AT).equals(header));
    if (!used) throw new SealedTextError(purpose, 'key');

    const decipher = createDecipheriv('aes-256-gcm', used.key, bytes.subarray(NONCE_AT, TAG_AT), { authTagLength: 16 })
      .setAAD(Buffer.concat([used.header, Buffer.from(boundTo)]))
      .setAuthTag(bytes.subarray(TAG_AT, TEXT_AT));
    try {
      return decipher.update(bytes.subarray(TEXT_AT), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      throw new SealedTextError(purpose, 'integrity');
    }
  };
};
