import type { Queryable } from '../connect-database.js';
import { inSlices } from '../in-slices.js';

const SLICE = 5_000;

/** Deletes sessions and counts of wrong sign-ins that are over, in slices. */
export const deleteExpiredSessions =
  (db: Queryable) =>
  async (now: Date): Promise<void> => {
    await inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM session WHERE id IN (
          SELECT id FROM session WHERE expires_at <= ${now}::timestamptz LIMIT ${SLICE}::int)`,
    );
    await inSlices(
      SLICE,
      () => db.$executeRaw`
        DELETE FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz AND address IN (
          SELECT address FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz LIMIT ${SLICE}::int)`,
    );
  };
