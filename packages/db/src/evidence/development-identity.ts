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
