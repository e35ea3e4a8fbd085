import type { Queryable } from '../connect-database.js';

/** Marks the batches of requests as running; those that are, or are completed, stay as they are. */
export const startBatches =
  (db: Queryable) =>
  async (requestIds: readonly string[]): Promise<void> => {
    await db.$executeRaw`
      UPDATE batch SET state = 'running' WHERE id IN (
        SELECT b.id FROM batch b WHERE b.state = 'queued'
          AND b.id IN (SELECT batch_id FROM batch_line WHERE request_id = ANY(${[...requestIds]}::uuid[]))
        FOR UPDATE SKIP LOCKED)`;
  };
