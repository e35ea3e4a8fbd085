import type { ReserveTries, TakeBackTries } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { query } from '../query.js';

/**
 * Removes the one attempt that was counted under each key at `at`, because its password was correct or was not verified.
 * A key without attempts has no row.
 */
export const takeBackSignIn =
  (db: Queryable): TakeBackTries =>
  async (keys, at) => {
    const hex = keys.map((key) => Buffer.from(key).toString('hex'));
    // Only one, since other attempts may have the same millisecond. Rows are locked in the same order as in reserveTries.
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

/**
 * Counts an attempt under all keys before its password is verified, so that concurrent attempts are counted too. Returns
 * the limits that refuse it; then nothing is counted. One statement that locks the rows of the keys, so the limits hold
 * across all processes.
 */
export const reserveTries =
  (db: Queryable, windowMs: number): ReserveTries =>
  async (limits, now) => {
    const hexOf = (key: Uint8Array) => Buffer.from(key).toString('hex');
    const keys = limits.map(({ key }) => hexOf(key));
    const tries = limits.map((limit) => limit.tries);
    const since = new Date(now.getTime() - windowMs);
    const end = new Date(now.getTime() + windowMs);
    // Later ones were counted before the clock was set back. They would refuse everybody until it had caught up.
    const counts = Prisma.sql`t > ${since}::timestamptz AND t <= ${end}::timestamptz`;
    // Rows are locked in the order of the keys, which prevents deadlocks.
    const counted = await query(db, { key: 'text' })`
      INSERT INTO sign_in_attempt AS s (address, tried_at, expires_at)
      SELECT decode(key, 'hex'), ARRAY[${now}::timestamptz], ${end}::timestamptz
      FROM unnest(${keys}::text[]) AS key ORDER BY decode(key, 'hex')
      ON CONFLICT (address) DO UPDATE SET expires_at = EXCLUDED.expires_at,
        tried_at = ARRAY(SELECT t FROM unnest(s.tried_at) t WHERE ${counts}) || EXCLUDED.tried_at
      WHERE (SELECT count(*) FROM unnest(s.tried_at) t WHERE ${counts})
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
    const oldest = await query(db, { key: 'text', at: 'timestamptz' })`
      SELECT encode(address, 'hex') AS key, min(t) AS at FROM sign_in_attempt, unnest(tried_at) t
      WHERE address IN (SELECT decode(key, 'hex') FROM unnest(${refused}::text[]) AS key) AND ${counts}
      GROUP BY address`;
    return refused.map((key) => {
      const at = oldest.find((row) => row.key === key)?.at ?? now;
      return { key: Buffer.from(key, 'hex'), free: new Date(at.getTime() + windowMs) };
    });
  };

/** {@link reserveTries} for one key and at most `tries` attempts within `windowMs` milliseconds: `null` when the attempt was counted, otherwise the time of the next possible one. */
export const reserveSignIn = (db: Queryable, { tries, windowMs }: { tries: number; windowMs: number }) => {
  const reserve = reserveTries(db, windowMs);
  return async (key: Uint8Array, now: Date): Promise<Date | null> =>
    (await reserve([{ key, tries }], now))[0]?.free ?? null;
};

/** Deletes the attempts that were counted for an address, because its owner has signed in. */
export const forgetSignIns =
  (db: Queryable) =>
  async (address: Uint8Array): Promise<void> => {
    await db.$executeRaw`DELETE FROM sign_in_attempt WHERE address = ${Buffer.from(address)}::bytea`;
  };
