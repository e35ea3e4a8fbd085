import { IDEMPOTENCY_KEPT_MS } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

const SLICE = 5_000;

/** Deletes Idempotency-Keys past their 24 hours, a slice at a time so that no statement runs long. Returns how many. */
export const deleteExpiredKeys =
  (db: Queryable) =>
  async (now: Date): Promise<number> => {
    const before = new Date(now.getTime() - IDEMPOTENCY_KEPT_MS);
    let deleted = 0;
    for (let n = SLICE; n === SLICE; deleted += n) {
      n = await db.$executeRaw`
        DELETE FROM idempotency_key WHERE (account_id, key) IN (
          SELECT account_id, key FROM idempotency_key WHERE created_at < ${before}::timestamptz LIMIT ${SLICE}::int)`;
    }
    return deleted;
  };
