import { openText } from '@vat/domain';

/** The secret that `sealSecret` sealed for this account. Throws SealedTextError when it does not open. */
export const openSecret = (masterKey: string, accountId: string, sealed: Uint8Array): string =>
  openText({ masterKey, purpose: 'webhook secret', boundTo: accountId }, sealed);
