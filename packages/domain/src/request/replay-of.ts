import { AppError } from '../errors.js';
import type { BoundKey, StoredAnswer } from './ports.js';

/** What a caller should wait while the first call with its key still runs, in seconds. */
const RETRY_AFTER_S = 1;

/**
 * The answer to replay for a key that was used before, where work and answer are one transaction.
 * Throws IDEMPOTENCY_MISMATCH, and IDEMPOTENCY_IN_PROGRESS where there is no answer yet.
 */
export const replayOf = (bound: BoundKey, fingerprint: Uint8Array): StoredAnswer => {
  if (Buffer.compare(bound.fingerprint, fingerprint) !== 0) throw new AppError('IDEMPOTENCY_MISMATCH');
  if (bound.answer) return bound.answer;
  throw new AppError('IDEMPOTENCY_IN_PROGRESS', { extra: { retry_after: RETRY_AFTER_S } });
};
