import type { SealedPurpose } from './sealing-key.js';

/**
 * Thrown when a sealed text does not open. `reason`: `format` (not bytes of ours), `key` (sealed under another SECRET_KEY)
 * or `integrity` (damaged, or bound to something else).
 */
export class SealedTextError extends Error {
  override readonly name = 'SealedTextError';

  constructor(
    purpose: SealedPurpose,
    readonly reason: 'format' | 'key' | 'integrity',
  ) {
    super(`The sealed ${purpose} does not open (${reason}).`);
  }
}
