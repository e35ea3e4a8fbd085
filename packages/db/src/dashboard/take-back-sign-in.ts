import type { Queryable } from '../connect-database.js';

/** Takes back the one sign-in that was counted for an address or a network at that moment, since it was right or not judged. */
export const takeBackSignIn =
  (db: Queryable) =>
  async (key: Uint8Array, at: Date): Promise<void> => {
    // One of them only: others may have been counted in the same millisecond.
    await db.$executeRaw`
      UPDATE sign_in_attempt SET tried_at =
        tried_at[:array_position(tried_at, ${at}::timestamptz) - 1] || tried_at[array_position(tried_at, ${at}::timestamptz) + 1:]
      WHERE address = ${Buffer.from(key)}::bytea AND ${at}::timestamptz = ANY (tried_at)`;
  };
