import type { SealedStore, WebhookConfiguration } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { NIL } from '../uuid-bounds.js';
import { endRemovedOfAccount } from './delivery-retention.js';

/** The displayed endpoint of an account; `null` when none is set. */
export const findWebhook =
  (db: Database) =>
  (accountId: string): Promise<WebhookConfiguration | null> =>
    db.webhook.findUnique({
      where: { accountId },
      select: { url: true, secretPrefix: true, configuredAt: true },
    });

/** Deliveries that a statement of a removal ends, and how long such statements of a call may take together, in milliseconds. */
const REMOVAL = { chunk: 500, maxMs: 4_000 };

/**
 * Removes an account's endpoint and ends its pending deliveries in chunks, so that each statement is short; false when none was
 * set. What is left after four seconds, or after a crash, ends when it is due, or with the next call, also when none is set. An attempt
 * in flight completes, but does not change a delivery that has ended.
 */
export const removeWebhook =
  (db: Queryable) =>
  async (accountId: string, now: Date): Promise<boolean> => {
    const removed = await db.$executeRaw`DELETE FROM webhook WHERE account_id = ${accountId}::uuid`;
    const until = performance.now() + REMOVAL.maxMs;
    // A chunk ends fewer than it found when an attempt ended some of them meanwhile.
    for (let ended = 1; ended > 0 && performance.now() < until; )
      ended = await endRemovedOfAccount(db)(now, accountId, REMOVAL.chunk);
    return removed > 0;
  };

/** A new endpoint of an account, with the sealed secret and its readable prefix. */
export type NewWebhook = {
  accountId: string;
  url: string;
  secretSealed: Uint8Array;
  secretPrefix: string;
  configuredAt: Date;
};

/**
 * Sets or replaces an account's endpoint. The previous secret is invalid at once, since every attempt reads this row. False, without
 * a change, when the account was erased: that waits for the lock, and deletes an endpoint that was set before.
 */
export const saveWebhook =
  (db: Queryable) =>
  async ({ accountId, url, secretSealed, secretPrefix, configuredAt }: NewWebhook): Promise<boolean> => {
    const saved = await db.$executeRaw`
      INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
      SELECT id, ${url}::text, ${Buffer.from(secretSealed)}::bytea, ${secretPrefix}::text, ${configuredAt}::timestamptz
      FROM account WHERE id = ${accountId}::uuid AND erased_at IS NULL FOR SHARE
      ON CONFLICT (account_id) DO UPDATE SET url = EXCLUDED.url, secret_sealed = EXCLUDED.secret_sealed,
        secret_prefix = EXCLUDED.secret_prefix, configured_at = EXCLUDED.configured_at`;
    return saved > 0;
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
