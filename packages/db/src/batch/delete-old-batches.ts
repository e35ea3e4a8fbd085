import type { Queryable } from '../connect-database.js';

/** A batch takes up to ten thousand lines with it. */
const SLICE = 5;

/** Deletes batches completed before a moment with their lines, a few at a time; their checks stay. Returns how many. */
export const deleteOldBatches =
  (db: Queryable) =>
  async (before: Date): Promise<number> => {
    let deleted = 0;
    for (let n = SLICE; n === SLICE; deleted += n) {
      n = await db.$executeRaw`
        DELETE FROM batch WHERE id IN (
          SELECT id FROM batch WHERE state = 'completed' AND completed_at < ${before}::timestamptz LIMIT ${SLICE}::int)`;
    }
    return deleted;
  };
