/**
 * Thrown when a sealed secret does not open. `reason`: `format` (not bytes of ours), `key` (sealed under another
 * SECRET_KEY) or `integrity` (damaged, or another account's).
 */
export class SealedSecretError extends Error {
  override readonly name = 'SealedSecretError';

  constructor(readonly reason: 'format' | 'key' | 'integrity') {
    super(`The sealed webhook secret does not open (${reason}).`);
  }
}
