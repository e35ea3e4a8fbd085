import type { Queryable } from '../connect-database.js';
import { inSlices } from '../in-slices.js';

/** A batch takes up to ten thousand lines with it. */
const SLICE = 5;

/**
 * Deletes batches completed before a moment with their lines, in slices; their checks stay. Returns how many. Also forgets
 * how many lines were uploaded by then, for accounts that upload no longer: an upload counts for a day.
 */
export const deleteOldBatches =
  (db: Queryable) =>
  async (before: Date): Promise<number> => {
    await db.$executeRaw`
      DELETE FROM batch_upload WHERE created_at < ${before}::timestamptz - interval '1 day'`;
    return inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM batch WHERE id IN (
          SELECT id FROM batch WHERE state = 'completed' AND completed_at < ${before}::timestamptz LIMIT ${SLICE}::int)`,
    );
  };
