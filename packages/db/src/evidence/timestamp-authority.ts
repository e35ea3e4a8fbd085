import type { SealedStore } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { query } from '../query.js';

/** The stored development authority: certificates as PEM, and the sealed key. */
type StoredIdentity = { certificate: string; root: string; keySealed: Uint8Array };

const ONE = 1;

/** The stored development authority; null when there is none. */
export const findDevelopmentIdentity = (db: Database) => (): Promise<StoredIdentity | null> =>
  db.developmentAuthority.findUnique({
    where: { id: ONE },
    select: { certificate: true, root: true, keySealed: true },
  });

/**
 * Stores a development authority that replaces `instead` (null: when none is stored). Of several concurrent processes the
 * first one wins; the callers read the stored one afterwards.
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

/** The sealed key of the development authority, bound to its certificate; at most one row. */
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

/** The root certificate (PEM) that was pinned for a time-stamping authority. */
type TimestampRoot = { tsaUrl: string; certificate: string; pinnedAt: Date };

/**
 * Pins `certificate` for an authority unless one is pinned already, and returns the pinned one. Of several concurrent
 * processes the first one wins.
 */
export const pinTimestampRoot =
  (db: Queryable) =>
  async (tsaUrl: string, certificate: string, now: Date): Promise<string> => {
    const find = () =>
      query(db, { certificate: 'text' })`SELECT certificate FROM timestamp_root WHERE tsa_url = ${tsaUrl}`;
    const [pinned] = await find();
    if (pinned) return pinned.certificate;
    await db.$executeRaw`
      INSERT INTO timestamp_root (tsa_url, certificate, pinned_at)
      VALUES (${tsaUrl}, ${certificate}, ${now}::timestamptz) ON CONFLICT (tsa_url) DO NOTHING`;
    const [stored] = await find();
    if (!stored) throw new Error('the root of the time-stamping authority was not stored');
    return stored.certificate;
  };

/** All pinned roots, ordered by URL. */
export const listTimestampRoots = (db: Queryable) => (): Promise<TimestampRoot[]> =>
  query(db, { tsaUrl: 'text', certificate: 'text', pinnedAt: 'timestamptz' })`
    SELECT tsa_url AS "tsaUrl", certificate, pinned_at AS "pinnedAt" FROM timestamp_root ORDER BY tsa_url`;

/** Deletes the pinned root of an authority; false when none was pinned. The root of its next response is pinned instead. */
export const forgetTimestampRoot =
  (db: Queryable) =>
  async (tsaUrl: string): Promise<boolean> =>
    (await db.$executeRaw`DELETE FROM timestamp_root WHERE tsa_url = ${tsaUrl}`) > 0;
