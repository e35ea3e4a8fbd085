import type { Queryable } from '../connect-database.js';

/**
 * What a results file begins with: the name of the uploaded file, its header row (`null` when it had none), the cells
 * of its widest row, and how many lines follow.
 */
export type ResultsHead = { fileName: string | null; header: string[] | null; width: number; total: number };

/** The head of the results of an account's batch; `null` when there is none, or it is another account's. */
export const findResultsHead =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<ResultsHead | null> => {
    const [row] = await db.$queryRaw<
      { file_name: string | null; header: string[] | null; width: number; total: number }[]
    >`
      SELECT b.file_name, b.header, b.total, GREATEST(jsonb_array_length(b.header), (
        SELECT max(jsonb_array_length(l.cells)) FROM batch_line l WHERE l.batch_id = b.id
      )) AS width
      FROM batch b WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid`;
    return row ? { fileName: row.file_name, header: row.header, width: row.width, total: row.total } : null;
  };
