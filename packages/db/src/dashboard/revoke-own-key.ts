import type { Queryable } from '../connect-database.js';

/** Revokes a key of an account; false when the account has no such key. Revoking twice keeps the first time. */
export const revokeOwnKey =
  (db: Queryable) =>
  async (accountId: string, keyId: string, now: Date): Promise<boolean> => {
    const found = await db.$executeRaw`
      UPDATE api_key SET revoked_at = COALESCE(revoked_at, ${now}::timestamptz)
      WHERE id = ${keyId}::uuid AND account_id = ${accountId}::uuid`;
    return found > 0;
  };
