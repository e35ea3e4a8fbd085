import type { BoundKey } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** The key's binding, `null` when it is free or older than `expiredBefore`. */
export const findIdempotencyKey =
  (db: Queryable) =>
  async (accountId: string, key: string, expiredBefore: Date): Promise<BoundKey | null> => {
    const [row] = await db.$queryRaw<
      {
        fingerprint: Uint8Array;
        request_id: string | null;
        locked_until: Date;
        status: number | null;
        headers: Record<string, string> | null;
        body: Uint8Array | null;
      }[]
    >`SELECT fingerprint, request_id, locked_until, status, headers, body FROM idempotency_key
      WHERE account_id = ${accountId}::uuid AND key = ${key} AND created_at >= ${expiredBefore}::timestamptz`;
    if (!row) return null;
    return {
      fingerprint: row.fingerprint,
      requestId: row.request_id,
      lockedUntil: row.locked_until,
      answer: row.status && row.body ? { status: row.status, headers: row.headers ?? {}, body: row.body } : null,
    };
  };
