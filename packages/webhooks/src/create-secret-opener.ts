import { createTextOpener, type OpenSealed } from '@vat/domain';

/** Of so many endpoints the last used secret stays open: whoever reads this memory reads the master key, too. */
const KEPT_OPEN = 1_000;

/**
 * Opens many webhook secrets, each with its account, with SECRET_KEY or SECRET_KEY_PREVIOUS; those in use are opened once.
 * Throws SealedTextError when one does not open.
 */
export const createSecretOpener = (masterKey: string, previousKey?: string): OpenSealed => {
  const open = createTextOpener({ masterKey, previousKey, purpose: 'webhook secret' });
  const opened = new Map<string, string>();
  return (accountId, sealed) => {
    const name = `${accountId} ${Buffer.from(sealed).toString('base64')}`;
    const known = opened.get(name);
    if (known !== undefined) return known;
    const secret = open(accountId, sealed);
    const [oldest] = opened.keys();
    if (opened.size >= KEPT_OPEN && oldest !== undefined) opened.delete(oldest);
    opened.set(name, secret);
    return secret;
  };
};
