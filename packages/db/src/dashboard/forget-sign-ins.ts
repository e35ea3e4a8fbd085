import type { Queryable } from '../connect-database.js';

/** Takes back what was counted for an address, since its owner has signed in. */
export const forgetSignIns =
  (db: Queryable) =>
  async (address: Uint8Array): Promise<void> => {
    await db.$executeRaw`DELETE FROM sign_in_attempt WHERE address = ${Buffer.from(address)}::bytea`;
  };
