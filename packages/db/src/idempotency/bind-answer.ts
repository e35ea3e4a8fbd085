import type { AnswerToBind, BoundKey } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { findIdempotencyKey } from './find-idempotency-key.js';

/**
 * Binds a key together with its answer, inside the transaction that does the work. Returns `null` when it did, else the
 * binding that was there before. A call with the same key that is under way is waited for.
 */
export const bindAnswer =
  (tx: Queryable) =>
  async (
    accountId: string,
    { key, fingerprint, expiredBefore, answer }: AnswerToBind,
    now: Date,
  ): Promise<BoundKey | null> => {
    const bound = await tx.$executeRaw`
      INSERT INTO idempotency_key (account_id, key, fingerprint, status, headers, body, created_at, locked_until)
      VALUES (${accountId}::uuid, ${key}, ${fingerprint}, ${answer.status}::int, ${JSON.stringify(answer.headers)}::jsonb,
        ${answer.body}, ${now}::timestamptz, ${now}::timestamptz)
      ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, request_id = NULL,
        status = excluded.status, headers = excluded.headers, body = excluded.body, created_at = excluded.created_at,
        locked_until = excluded.locked_until
      WHERE idempotency_key.created_at < ${expiredBefore}::timestamptz`;
    if (bound > 0) return null;
    const earlier = await findIdempotencyKey(tx)(accountId, key, expiredBefore);
    if (!earlier) throw new Error('an Idempotency-Key that is bound cannot be read');
    return earlier;
  };
