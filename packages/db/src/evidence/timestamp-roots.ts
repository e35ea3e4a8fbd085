import type { Queryable } from '../connect-database.js';

/** The root certificate (PEM) that was pinned for a time-stamping authority. */
export type TimestampRoot = { tsaUrl: string; certificate: string; pinnedAt: Date };

/**
 * Pins `certificate` for an authority unless another one is pinned already, and returns the pinned one. Of several processes the
 * first one decides.
 */
export const pinTimestampRoot =
  (db: Queryable) =>
  async (tsaUrl: string, certificate: string, now: Date): Promise<string> => {
    const find = () =>
      db.$queryRaw<{ certificate: string }[]>`SELECT certificate FROM timestamp_root WHERE tsa_url = ${tsaUrl}`;
    const [pinned] = await find();
    if (pinned) return pinned.certificate;
    await db.$executeRaw`
      INSERT INTO timestamp_root (tsa_url, certificate, pinned_at)
      VALUES (${tsaUrl}, ${certificate}, ${now}::timestamptz) ON CONFLICT (tsa_url) DO NOTHING`;
    const [stored] = await find();
    if (!stored) throw new Error('the root of the time-stamping authority was not stored');
    return stored.certificate;
  };

/** Every pinned root, by address. */
export const listTimestampRoots = (db: Queryable) => async (): Promise<TimestampRoot[]> => {
  const rows = await db.$queryRaw<{ tsa_url: string; certificate: string; pinned_at: Date }[]>`
    SELECT tsa_url, certificate, pinned_at FROM timestamp_root ORDER BY tsa_url`;
  return rows.map((row) => ({ tsaUrl: row.tsa_url, certificate: row.certificate, pinnedAt: row.pinned_at }));
};

/** Forgets the root of an authority; false when none was pinned. The next answer's root is pinned instead. */
export const forgetTimestampRoot =
  (db: Queryable) =>
  async (tsaUrl: string): Promise<boolean> =>
    (await db.$executeRaw`DELETE FROM timestamp_root WHERE tsa_url = ${tsaUrl}`) > 0;
