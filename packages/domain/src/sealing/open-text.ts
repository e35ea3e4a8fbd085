import { createDecipheriv } from 'node:crypto';
import type { Seal } from './seal-text.js';
import { SealedTextError } from './sealed-text-error.js';
import { sealingKey } from './sealing-key.js';

const NONCE_AT = 5;
const TAG_AT = 17;
const TEXT_AT = 33;

/** The text that `sealText` sealed in the same way. Throws SealedTextError when it does not open. */
export const openText = ({ masterKey, purpose, boundTo }: Seal, sealed: Uint8Array): string => {
  const { key, header } = sealingKey(masterKey, purpose);
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
