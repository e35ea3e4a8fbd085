import { randomBytes } from 'node:crypto';
import { createTextOpener, type OpenSealed, sealText } from '@vat/domain';

/** A new signing secret: `whsec_` and 32 random bytes in base64 (50 characters). */
export const newWebhookSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** At most this many opened secrets are cached. The cache exposes nothing new: the master key is in the same memory. */
const MAX_CACHED_SECRETS = 1_000;

/**
 * Opens webhook secrets, each bound to its account, with SECRET_KEY or SECRET_KEY_PREVIOUS, and caches them. Throws
 * SealedTextError when a secret does not open.
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
    if (opened.size >= MAX_CACHED_SECRETS && oldest !== undefined) opened.delete(oldest);
    opened.set(name, secret);
    return secret;
  };
};

/** Opens one secret; see {@link createSecretOpener}. Throws SealedTextError when it does not open. */
export const openSecret = (masterKey: string, accountId: string, sealed: Uint8Array): string =>
  createSecretOpener(masterKey)(accountId, sealed);

/**
 * Seals a webhook secret for storage. It is bound to its account: a row copied to another account does not open
 * there.
 */
export const sealSecret = (masterKey: string, accountId: string, secret: string): Buffer =>
  sealText({ masterKey, purpose: 'webhook secret', boundTo: accountId }, secret);

/** The part of a secret that stays readable: its first 8 characters. */
export const secretPrefix = (secret: string): string => secret.slice(0, 8);
