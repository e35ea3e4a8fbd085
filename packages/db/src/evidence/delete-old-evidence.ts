import type { Queryable } from '../connect-database.js';
import { inSlices, MOST_SLICES } from '../in-slices.js';
import { deleteRequests } from './delete-requests-sql.js';
import { NIL } from './nil.js';
import { idAt } from './time-of-id.js';

const SLICE = 500;

/** What was deleted. */
export type DeletedEvidence = { requests: number; events: number; changes: number };

/**
 * Deletes what was recorded before a moment: ended requests with their checks, exchanges and time-stamps, events, the ledger's
 * entries, changes of watches. Anchors and leaves stay: the chain verifies for ever, and whoever has a check's bytes can
 * still prove them. Rows are found by their id, which begins with their time. A slice at a time, so that no statement runs long, and at most `mostSlices` of each kind.
 */
export const deleteOldEvidence =
  (db: Queryable) =>
  async (before: Date, mostSlices = MOST_SLICES): Promise<DeletedEvidence> => {
    const bound = idAt(before);
    const deleted = { requests: 0, events: 0, changes: 0 };
    for (let [after, slices] = [NIL, 0]; slices < mostSlices; slices += 1) {
      const [slice] = await db.$queryRaw<{ n: number; last: string | null }[]>`
        WITH old AS MATERIALIZED (
          SELECT id, check_id FROM request
          WHERE id < ${bound}::uuid AND id > ${after}::uuid AND state NOT IN ('waiting', 'pending')
            AND (check_id IS NULL OR check_id < ${bound}::uuid)
          ORDER BY id LIMIT ${SLICE}::int
        ), ledger AS (DELETE FROM usage_entry WHERE check_id IN (SELECT check_id FROM old)
        ), ${deleteRequests()}
        SELECT count(*)::int AS n, (SELECT id FROM old ORDER BY id DESC LIMIT 1) AS last FROM old`;
      deleted.requests += slice?.n ?? 0;
      if (!slice?.last || slice.n < SLICE) break;
      after = slice.last;
    }
    deleted.events = await inSlices(
      SLICE,
      () => db.$executeRaw`
        WITH old AS MATERIALIZED (
          SELECT e.id FROM event e WHERE e.id < ${bound}::uuid
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id AND d.state = 'pending')
          ORDER BY e.id LIMIT ${SLICE}::int
        ), sent AS (DELETE FROM delivery WHERE event_id IN (SELECT id FROM old))
        DELETE FROM event WHERE id IN (SELECT id FROM old)`,
      mostSlices,
    );
    deleted.changes = await inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM watch_change WHERE id IN (
          SELECT id FROM watch_change WHERE id < ${bound}::uuid ORDER BY id LIMIT ${SLICE}::int)`,
      mostSlices,
    );
    return deleted;
  };
