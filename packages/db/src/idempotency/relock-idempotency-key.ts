import type { Queryable } from '../connect-database.js';

/** Takes a key over from a first call that died: true for exactly one of the callers that race for it. */
export const relockIdempotencyKey =
  (db: Queryable) =>
  async (accountId: string, key: string, now: Date, lockedUntil: Date): Promise<boolean> => {
    const taken = await db.$executeRaw`
      UPDATE idempotency_key SET locked_until = ${lockedUntil}::timestamptz
      WHERE account_id = ${accountId}::uuid AND key = ${key} AND status IS NULL AND locked_until <= ${now}::timestamptz`;
    return taken > 0;
  };
