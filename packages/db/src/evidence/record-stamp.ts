import type { RecordStamp } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Writes what a try made of a stamp, once: not when it is there already, or another try was recorded meanwhile. */
export const recordStamp =
  (db: Queryable): RecordStamp =>
  async ({ subjectId, attempts }, outcome) => {
    if (outcome.kind === 'failed') {
      const counted = outcome.counts ? 1 : 0;
      const failed = await db.$executeRaw`
        UPDATE stamp SET attempts = attempts + ${counted}::int, next_attempt_at = ${outcome.nextAttemptAt}::timestamptz,
          last_error = ${outcome.error}
        WHERE subject_id = ${subjectId}::uuid AND token IS NULL AND attempts = ${attempts}::int`;
      return failed > 0;
    }
    const { token, facts } = outcome;
    const stamped = await db.$executeRaw`
      UPDATE stamp SET attempts = attempts + 1, next_attempt_at = NULL, last_error = NULL, token = ${token},
        gen_time = ${facts.genTime}::timestamptz, accuracy_ms = ${facts.accuracyMs}::int, serial = ${facts.serial},
        policy = ${facts.policy}, authority = ${facts.authority}, development = ${facts.development}
      WHERE subject_id = ${subjectId}::uuid AND token IS NULL AND attempts = ${attempts}::int`;
    return stamped > 0;
  };
