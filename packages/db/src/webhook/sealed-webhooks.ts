import type { SealedStore } from '@vat/domain';
import type { Database } from '../connect-database.js';

const FIRST = '00000000-0000-0000-0000-000000000000';

/** The sealed secrets of all endpoints, each bound to its account. */
export const sealedWebhooks = (db: Database): SealedStore => ({
  list: async (after, limit) => {
    const rows = await db.webhook.findMany({
      where: { accountId: { gt: after ?? FIRST } },
      orderBy: { accountId: 'asc' },
      take: limit,
      select: { accountId: true, secretSealed: true },
    });
    return rows.map(({ accountId, secretSealed }) => ({ boundTo: accountId, sealed: secretSealed }));
  },
  replace: (rows) => {
    const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
    // One statement; a row whose secret was rotated since it was read does not match any more.
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
