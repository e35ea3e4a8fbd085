import { Prisma } from '../generated/client.js';

/**
 * The CTEs that delete requests with everything that hangs on them: exchanges, check, time-stamp, events and their deliveries.
 * Leaves of anchors stay. `old`: the name of a CTE of (id, check_id) before them.
 */
export const deleteRequests = (): Prisma.Sql => Prisma.sql`
  exchanged AS (DELETE FROM exchange WHERE request_id IN (SELECT id FROM old)),
  stamped AS (DELETE FROM stamp WHERE kind = 'check' AND subject_id IN (SELECT check_id FROM old)),
  told AS (
    DELETE FROM event WHERE type IN ('check.completed', 'check.failed') AND subject_id IN (SELECT id FROM old)
    RETURNING id
  ),
  sent AS (DELETE FROM delivery WHERE event_id IN (SELECT id FROM told)),
  checked AS (DELETE FROM "check" WHERE id IN (SELECT check_id FROM old)),
  requested AS (DELETE FROM request WHERE id IN (SELECT id FROM old))`;
