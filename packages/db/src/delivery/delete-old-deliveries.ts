import type { Queryable } from '../connect-database.js';

const SLICE = 5_000;

/**
 * Deletes ended deliveries made before a moment, with their attempts and the test events among their events; every other
 * event stays with what it is about. A slice at a time, so that no statement runs long. Returns how many deliveries.
 */
export const deleteOldDeliveries =
  (db: Queryable) =>
  async (before: Date): Promise<number> => {
    let deleted = 0;
    for (let n = SLICE; n === SLICE; deleted += n) {
      n = await db.$executeRaw`
        DELETE FROM delivery WHERE id IN (
          SELECT id FROM delivery WHERE state <> 'pending' AND created_at < ${before}::timestamptz LIMIT ${SLICE}::int)`;
    }
    await db.$executeRaw`
      DELETE FROM event e WHERE e.type = 'webhook.test' AND e.created_at < ${before}::timestamptz
        AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = e.id)`;
    return deleted;
  };
