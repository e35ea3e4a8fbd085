import { type SealedStore, WEBHOOK_REMOVED, type WebhookConfiguration } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { query } from '../query.js';
import { NIL } from '../uuid-bounds.js';

/** The displayed endpoint of an account; `null` when none is set. */
export const findWebhook =
  (db: Database) =>
  (accountId: string): Promise<WebhookConfiguration | null> =>
    db.webhook.findUnique({
      where: { accountId },
      select: { url: true, secretPrefix: true, configuredAt: true },
    });

/**
 * Removes an account's endpoint and ends its pending deliveries, in one statement; false when none was set. An attempt in
 * flight completes, but does not change the delivery any more. Statements that change several deliveries lock them in the
 * order of their ids, which prevents deadlocks between them.
 */
export const removeWebhook =
  (db: Queryable) =>
  async (accountId: string, now: Date): Promise<boolean> => {
    const [row] = await query(db, { removed: 'bool' })`
      WITH gone AS (
        DELETE FROM webhook WHERE account_id = ${accountId}::uuid RETURNING account_id
      ), pending AS MATERIALIZED (
        SELECT d.id FROM gone JOIN delivery d ON d.account_id = gone.account_id WHERE d.state = 'pending'
        ORDER BY d.id FOR UPDATE OF d
      ), ended AS (
        UPDATE delivery d SET state = 'failed', next_attempt_at = NULL, leased_until = NULL,
          last_attempt_at = ${now}::timestamptz, last_status_code = NULL, last_duration_ms = 0,
          last_error = ${WEBHOOK_REMOVED}
        FROM pending WHERE d.id = pending.id AND d.state = 'pending'
      )
      SELECT EXISTS (SELECT 1 FROM gone) AS removed`;
    return row?.removed ?? false;
  };

/** A new endpoint of an account, with the sealed secret and its readable prefix. */
export type NewWebhook = {
  accountId: string;
  url: string;
  secretSealed: Uint8Array;
  secretPrefix: string;
  configuredAt: Date;
};

/** Sets or replaces an account's endpoint. The previous secret is invalid at once, since every attempt reads this row. */
export const saveWebhook =
  (db: Queryable) =>
  async ({ accountId, url, secretSealed, secretPrefix, configuredAt }: NewWebhook): Promise<void> => {
    await db.$executeRaw`
      INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
      VALUES (${accountId}::uuid, ${url}, ${Buffer.from(secretSealed)}::bytea, ${secretPrefix}, ${configuredAt}::timestamptz)
      ON CONFLICT (account_id) DO UPDATE SET url = EXCLUDED.url, secret_sealed = EXCLUDED.secret_sealed,
        secret_prefix = EXCLUDED.secret_prefix, configured_at = EXCLUDED.configured_at`;
  };

/** The sealed secrets of all endpoints, each bound to its account. */
export const sealedWebhooks = (db: Database): SealedStore => ({
  list: async (after, limit) => {
    const rows = await db.webhook.findMany({
      where: { accountId: { gt: after ?? NIL } },
      orderBy: { accountId: 'asc' },
      take: limit,
      select: { accountId: true, secretSealed: true },
    });
    return rows.map(({ accountId, secretSealed }) => ({ boundTo: accountId, sealed: secretSealed }));
  },
  replace: (rows) => {
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
    // A row whose secret was rotated since it was read does not match.
    return db.$executeRaw`
      UPDATE webhook w SET secret_sealed = decode(r.resealed, 'hex')
      FROM unnest(
        ${rows.map(({ boundTo }) => boundTo)}::uuid[],
        ${rows.map(({ sealed }) => hex(sealed))}::text[],
        ${rows.map(({ resealed }) => hex(resealed))}::text[]
      ) AS r(account_id, sealed, resealed)
      WHERE w.account_id = r.account_id AND w.secret_sealed = decode(r.sealed, 'hex')`;
  },
});
