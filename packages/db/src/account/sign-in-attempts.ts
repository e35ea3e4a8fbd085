import type { Queryable } from '../connect-database.js';

/**
 * Takes back the one try that was counted under each of the keys at that moment, since its password was right or was not
 * verified. A key without tries has no row.
 */
export const takeBackSignIn =
  (db: Queryable) =>
  async (keys: readonly Uint8Array[], at: Date): Promise<void> => {
    const hex = keys.map((key) => Buffer.from(key).toString('hex'));
    // One of them only: others may have been counted in the same millisecond. Locked in the order in which they are counted.
    await db.$executeRaw`
      WITH locked AS (
        SELECT address FROM sign_in_attempt
        WHERE address IN (SELECT decode(key, 'hex') FROM unnest(${hex}::text[]) AS key)
        ORDER BY address FOR UPDATE)
      UPDATE sign_in_attempt s SET tried_at =
        tried_at[:array_position(tried_at, ${at}::timestamptz) - 1] || tried_at[array_position(tried_at, ${at}::timestamptz) + 1:]
      FROM locked WHERE s.address = locked.address AND ${at}::timestamptz = ANY (tried_at)`;
    await db.$executeRaw`
      DELETE FROM sign_in_attempt
      WHERE address IN (
        SELECT address FROM sign_in_attempt
        WHERE address IN (SELECT decode(key, 'hex') FROM unnest(${hex}::text[]) AS key) AND cardinality(tried_at) = 0
        ORDER BY address FOR UPDATE) AND cardinality(tried_at) = 0`;
  };

/** How many tries a key has in `windowMs` milliseconds. */
export type SignInLimit = { tries: number; windowMs: number };

/** A key under which tries are counted (an HMAC of an e-mail address, of a network or of both), and how many it has. */
export type TryLimit = { key: Uint8Array; tries: number };

/** A limit that refuses a try, and when it admits the next one. */
export type RefusedTries = { key: Buffer; free: Date };

/**
 * Counts a try under all of the keys, before its password is verified, so that tries that race are counted too. Returns
 * the limits that refuse it; then nothing is counted. One statement, which waits for the keys' rows, so the limits hold
 * over every process.
 */
export const reserveTries =
  (db: Queryable, windowMs: number) =>
  async (limits: readonly TryLimit[], now: Date): Promise<RefusedTries[]> => {
    const hexOf = (key: Uint8Array) => Buffer.from(key).toString('hex');
    const keys = limits.map(({ key }) => hexOf(key));
    const tries = limits.map((limit) => limit.tries);
    const since = new Date(now.getTime() - windowMs);
    const end = new Date(now.getTime() + windowMs);
    // In the order of keys, so that two statements never wait for each other's rows.
    const counted = await db.$queryRaw<{ key: string }[]>`
      INSERT INTO sign_in_attempt AS s (address, tried_at, expires_at)
      SELECT decode(key, 'hex'), ARRAY[${now}::timestamptz], ${end}::timestamptz
      FROM unnest(${keys}::text[]) AS key ORDER BY decode(key, 'hex')
      ON CONFLICT (address) DO UPDATE SET expires_at = EXCLUDED.expires_at,
        tried_at = ARRAY(SELECT t FROM unnest(s.tried_at) t WHERE t > ${since}::timestamptz) || EXCLUDED.tried_at
      WHERE (SELECT count(*) FROM unnest(s.tried_at) t WHERE t > ${since}::timestamptz)
        < (SELECT l.tries FROM unnest(${keys}::text[], ${tries}::int[]) AS l(key, tries)
           WHERE l.key = encode(s.address, 'hex'))
      RETURNING encode(address, 'hex') AS key`;
    if (counted.length === limits.length) return [];
    const isCounted = new Set(counted.map(({ key }) => key));
    const refused = keys.filter((key) => !isCounted.has(key));
    if (counted.length > 0) {
      await takeBackSignIn(db)(
        counted.map(({ key }) => Buffer.from(key, 'hex')),
        now,
      );
    }
    const oldest = await db.$queryRaw<{ key: string; at: Date }[]>`
      SELECT encode(address, 'hex') AS key, min(t) AS at FROM sign_in_attempt, unnest(tried_at) t
      WHERE address IN (SELECT decode(key, 'hex') FROM unnest(${refused}::text[]) AS key) AND t > ${since}::timestamptz
      GROUP BY address`;
    return refused.map((key) => {
      const at = oldest.find((row) => row.key === key)?.at ?? now;
      return { key: Buffer.from(key, 'hex'), free: new Date(at.getTime() + windowMs) };
    });
  };

/** {@link reserveTries} of one key: `null` when it was counted, else when the next try may be. */
export const reserveSignIn = (db: Queryable, { tries, windowMs }: SignInLimit) => {
  const reserve = reserveTries(db, windowMs);
  return async (key: Uint8Array, now: Date): Promise<Date | null> =>
    (await reserve([{ key, tries }], now))[0]?.free ?? null;
};

/** Takes back what was counted for an address, since its owner has signed in. */
export const forgetSignIns =
  (db: Queryable) =>
  async (address: Uint8Array): Promise<void> => {
    await db.$executeRaw`DELETE FROM sign_in_attempt WHERE address = ${Buffer.from(address)}::bytea`;
  };
