import type { Queryable } from '../connect-database.js';
import { inSlices } from '../in-slices.js';

const SLICE = 5_000;

/**
 * Deletes ended deliveries made before a moment, with their attempts and the test events among their events; every other
 * event stays with what it is about. In slices. Returns how many deliveries.
 */
export const deleteOldDeliveries =
  (db: Queryable) =>
  async (before: Date): Promise<number> => {
    const deleted = await inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM delivery WHERE id IN (
          SELECT id FROM delivery WHERE state <> 'pending' AND created_at < ${before}::timestamptz LIMIT ${SLICE}::int)`,
    );
    await inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM event WHERE id IN (
          SELECT e.id FROM event e WHERE e.type = 'webhook.test' AND e.created_at < ${before}::timestamptz
            AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id) LIMIT ${SLICE}::int)`,
    );
    return deleted;
  };
