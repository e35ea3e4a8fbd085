import type { Queryable } from '../connect-database.js';
import { inSlices } from '../in-slices.js';

/** A batch takes up to ten thousand lines with it. */
const SLICE = 5;

/** Deletes batches completed before a moment with their lines, in slices; their checks stay. Returns how many. */
export const deleteOldBatches =
  (db: Queryable) =>
  (before: Date): Promise<number> =>
    inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM batch WHERE id IN (
          SELECT id FROM batch WHERE state = 'completed' AND completed_at < ${before}::timestamptz LIMIT ${SLICE}::int)`,
    );
