import { PUBLIC_LINK_SEAL, type SealedStore } from '@vat/domain';
import type { Database } from '../connect-database.js';

const ONE = 1;

/** The sealed key of public links; null when there is none. */
export const findPublicLinkKey = (db: Database) => async (): Promise<Uint8Array | null> =>
  (await db.publicLinkKey.findUnique({ where: { id: ONE }, select: { keySealed: true } }))?.keySealed ?? null;

/** Stores the sealed key of public links unless one is stored. Of several concurrent processes the first one wins. */
export const storePublicLinkKey =
  (db: Database) =>
  async (sealed: Uint8Array, now: Date): Promise<void> => {
    await db.$executeRaw`
      INSERT INTO public_link_key (id, key_sealed, created_at)
      VALUES (${ONE}, ${Buffer.from(sealed)}, ${now}::timestamptz) ON CONFLICT (id) DO NOTHING`;
  };

/** The sealed key of public links; at most one row. */
export const sealedPublicLinkKey = (db: Database): SealedStore => ({
  list: async (after) => {
    const sealed = after === null ? await findPublicLinkKey(db)() : null;
    return sealed ? [{ boundTo: PUBLIC_LINK_SEAL.boundTo, sealed }] : [];
  },
  replace: async ([row]) => {
    if (!row) return 0;
    const { count } = await db.publicLinkKey.updateMany({
      where: { id: ONE, keySealed: Buffer.from(row.sealed) },
      data: { keySealed: Buffer.from(row.resealed) },
    });
    return count;
  },
});
