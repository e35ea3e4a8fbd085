import type { Queryable } from '../connect-database.js';

/** Ends a session everywhere at once. `id`: SHA-256 of its token. Ending it twice is no error. */
export const deleteSession =
  (db: Queryable) =>
  async (id: Uint8Array): Promise<void> => {
    await db.$executeRaw`DELETE FROM session WHERE id = ${Buffer.from(id)}::bytea`;
  };
