import { IDEMPOTENCY_KEPT_MS } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { inSlices } from '../in-slices.js';

const SLICE = 5_000;

/** Deletes Idempotency-Keys past their 24 hours, in slices. Returns how many. */
export const deleteExpiredKeys =
  (db: Queryable) =>
  (now: Date): Promise<number> => {
    const before = new Date(now.getTime() - IDEMPOTENCY_KEPT_MS);
    return inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM idempotency_key WHERE (account_id, key) IN (
          SELECT account_id, key FROM idempotency_key WHERE created_at < ${before}::timestamptz LIMIT ${SLICE}::int)`,
    );
  };
