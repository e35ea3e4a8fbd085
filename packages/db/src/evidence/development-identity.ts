import type { SealedStore } from '@vat/domain';
import type { Database } from '../connect-database.js';

/** The development authority as it is stored: PEM, and its key sealed. */
export type StoredIdentity = { certificate: string; root: string; keySealed: Uint8Array };

const ONE = 1;

/** The stored development authority; null before it was made. */
export const findDevelopmentIdentity = (db: Database) => (): Promise<StoredIdentity | null> =>
  db.developmentAuthority.findUnique({
    where: { id: ONE },
    select: { certificate: true, root: true, keySealed: true },
  });

/**
 * Stores a development authority in place of `instead` (null: where there is none). Whoever of several processes comes first
 * wins; all of them read afterwards what is stored.
 */
export const storeDevelopmentIdentity =
  (db: Database) =>
  async (made: StoredIdentity, instead: StoredIdentity | null, now: Date): Promise<void> => {
    const { certificate, root } = made;
    const keySealed = Buffer.from(made.keySealed);
    if (instead === null)
      await db.$executeRaw`
        INSERT INTO development_authority (id, certificate, root, key_sealed, created_at)
        VALUES (${ONE}, ${certificate}, ${root}, ${keySealed}, ${now}::timestamptz) ON CONFLICT (id) DO NOTHING`;
    else
      await db.developmentAuthority.updateMany({
        where: { id: ONE, certificate: instead.certificate },
        data: { certificate, root, keySealed, createdAt: now },
      });
  };

/** The sealed key of the development authority, bound to its certificate: one row, or none. */
export const sealedDevelopmentKey = (db: Database): SealedStore => ({
  list: async (after) => {
    const stored = after === null ? await findDevelopmentIdentity(db)() : null;
    return stored ? [{ boundTo: stored.certificate, sealed: stored.keySealed }] : [];
  },
  replace: async ([row]) => {
    if (!row) return 0;
    const { count } = await db.developmentAuthority.updateMany({
      where: { id: ONE, certificate: row.boundTo, keySealed: Buffer.from(row.sealed) },
      data: { keySealed: Buffer.from(row.resealed) },
    });
    return count;
  },
});
