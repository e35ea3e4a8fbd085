import { createSecretOpener } from './create-secret-opener.js';

/** Opens one secret; see {@link createSecretOpener}. Throws SealedTextError when it does not open. */
export const openSecret = (masterKey: string, accountId: string, sealed: Uint8Array): string =>
  createSecretOpener(masterKey)(accountId, sealed);
