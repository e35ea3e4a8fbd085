import type { Queryable } from '../connect-database.js';

/** Ends every session of a user, everywhere at once. */
export const deleteSessionsOfUser =
  (db: Queryable) =>
  async (userId: string): Promise<void> => {
    await db.$executeRaw`DELETE FROM session WHERE user_id = ${userId}::uuid`;
  };
