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
