import type { Queryable } from '../connect-database.js';

/** Deletes a completed batch of an account with its lines; its checks stay. */
export const deleteBatch =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<'deleted' | 'running' | 'not_found'> => {
    const [row] = await db.$queryRaw<{ deleted: boolean; running: boolean }[]>`
      WITH gone AS (
        DELETE FROM batch WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid AND state = 'completed' RETURNING 1
      )
      SELECT EXISTS (SELECT 1 FROM gone) AS deleted, EXISTS (
        SELECT 1 FROM batch WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid AND state <> 'completed'
      ) AS running`;
    if (row?.deleted) return 'deleted';
    return row?.running ? 'running' : 'not_found';
  };
