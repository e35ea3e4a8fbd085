import type { Queryable } from '../connect-database.js';

/** How many wrong sign-ins an address has in `windowMs` milliseconds. */
export type SignInLimit = { tries: number; windowMs: number };

/**
 * Counts a sign-in of an address before its password is judged, so that tries that race are counted too; a right one
 * takes the count back. `null` when it may be judged, else when the next one may: then nothing was counted. One statement,
 * which waits for the address's row, so the limit holds over every process.
 */
export const reserveSignIn =
  (db: Queryable, { tries, windowMs }: SignInLimit) =>
  async (address: Uint8Array, now: Date): Promise<Date | null> => {
    const key = Buffer.from(address);
    const since = new Date(now.getTime() - windowMs);
    const end = new Date(now.getTime() + windowMs);
    const counted = await db.$executeRaw`
      INSERT INTO sign_in_attempt AS s (address, tried_at, expires_at)
      VALUES (${key}::bytea, ARRAY[${now}::timestamptz], ${end}::timestamptz)
      ON CONFLICT (address) DO UPDATE SET expires_at = EXCLUDED.expires_at,
        tried_at = ARRAY(SELECT t FROM unnest(s.tried_at) t WHERE t > ${since}::timestamptz) || EXCLUDED.tried_at
      WHERE (SELECT count(*) FROM unnest(s.tried_at) t WHERE t > ${since}::timestamptz) < ${tries}::int`;
    if (counted > 0) return null;
    const [oldest] = await db.$queryRaw<{ at: Date | null }[]>`
      SELECT min(t) AS at FROM sign_in_attempt, unnest(tried_at) t
      WHERE address = ${key}::bytea AND t > ${since}::timestamptz`;
    return new Date((oldest?.at ?? now).getTime() + windowMs);
  };
