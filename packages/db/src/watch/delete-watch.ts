import type { Queryable } from '../connect-database.js';

/** Removes a watch with its changes; false when there is none, or it is another account's. Its checks stay, and a run under way ends as a check of nobody's watch. */
export const deleteWatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<boolean> =>
    (await db.$executeRaw`DELETE FROM watch WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid`) > 0;
