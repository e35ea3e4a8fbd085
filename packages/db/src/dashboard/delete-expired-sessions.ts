import type { Queryable } from '../connect-database.js';

const SLICE = 5_000;

/** Deletes sessions and counts of wrong sign-ins that are over, a slice at a time so that no statement runs long. */
export const deleteExpiredSessions =
  (db: Queryable) =>
  async (now: Date): Promise<void> => {
    for (let n = SLICE; n === SLICE; ) {
      n = await db.$executeRaw`
        DELETE FROM session WHERE id IN (
          SELECT id FROM session WHERE expires_at <= ${now}::timestamptz LIMIT ${SLICE}::int)`;
    }
    for (let n = SLICE; n === SLICE; ) {
      n = await db.$executeRaw`
        DELETE FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz AND address IN (
          SELECT address FROM sign_in_attempt WHERE expires_at <= ${now}::timestamptz LIMIT ${SLICE}::int)`;
    }
  };
