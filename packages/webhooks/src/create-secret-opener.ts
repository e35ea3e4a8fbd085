import { createTextOpener, type OpenSealed } from '@vat/domain';

/** Opens many webhook secrets, each with its account, with one master key. Throws SealedTextError when one does not open. */
export const createSecretOpener = (masterKey: string): OpenSealed =>
  createTextOpener({ masterKey, purpose: 'webhook secret' });
