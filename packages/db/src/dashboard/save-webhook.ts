import type { Queryable } from '../connect-database.js';

/** An account's endpoint as it is stored: the secret only sealed, and its readable prefix. */
export type NewWebhook = {
  accountId: string;
  url: string;
  secretSealed: Uint8Array;
  secretPrefix: string;
  configuredAt: Date;
};

/** Sets or replaces an account's endpoint. The previous secret is gone at once: every attempt reads this row. */
export const saveWebhook =
  (db: Queryable) =>
  async ({ accountId, url, secretSealed, secretPrefix, configuredAt }: NewWebhook): Promise<void> => {
    await db.$executeRaw`
      INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
      VALUES (${accountId}::uuid, ${url}, ${Buffer.from(secretSealed)}::bytea, ${secretPrefix}, ${configuredAt}::timestamptz)
      ON CONFLICT (account_id) DO UPDATE SET url = EXCLUDED.url, secret_sealed = EXCLUDED.secret_sealed,
        secret_prefix = EXCLUDED.secret_prefix, configured_at = EXCLUDED.configured_at`;
  };
