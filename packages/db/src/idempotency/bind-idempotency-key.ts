import type { KeyToBind } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Binds a key to a request, or to work that has none; false when it is bound already and not expired. */
export const bindIdempotencyKey =
  (db: Queryable) =>
  async (binding: KeyToBind & { accountId: string; requestId: string | null; now: Date }): Promise<boolean> => {
    const bound = await db.$executeRaw`
      INSERT INTO idempotency_key (account_id, key, fingerprint, request_id, created_at, locked_until)
      VALUES (${binding.accountId}::uuid, ${binding.key}, ${binding.fingerprint}, ${binding.requestId}::uuid,
        ${binding.now}::timestamptz, ${binding.lockedUntil}::timestamptz)
      ON CONFLICT (account_id, key) DO UPDATE SET fingerprint = excluded.fingerprint, request_id = excluded.request_id,
        created_at = excluded.created_at, locked_until = excluded.locked_until, status = NULL, headers = NULL, body = NULL
      WHERE idempotency_key.created_at < ${binding.expiredBefore}::timestamptz`;
    return bound > 0;
  };
