import type { DeliveryPlan, LoggedAttempt } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

export type AttemptToRecord = { deliveryId: string; attempt: LoggedAttempt; plan: DeliveryPlan };

/**
 * Logs an attempt and settles what follows from it, in one statement, once however often it is run: false when another
 * run had recorded this attempt. A delivery that was ended meanwhile (its endpoint was removed) keeps its end; what was
 * sent is logged all the same.
 */
export const recordAttempt =
  (db: Queryable) =>
  async ({ deliveryId, attempt, plan }: AttemptToRecord): Promise<boolean> => {
    const recorded = await db.$queryRaw<unknown[]>`
      WITH settled AS (
        UPDATE delivery d SET attempts = ${attempt.number}::int, leased_until = NULL,
          state = CASE WHEN d.state = 'pending' THEN ${plan.state} ELSE d.state END,
          next_attempt_at = CASE WHEN d.state = 'pending' THEN ${plan.nextAttemptAt}::timestamptz END,
          last_attempt_at = CASE WHEN d.state = 'pending' THEN ${attempt.at}::timestamptz ELSE d.last_attempt_at END,
          last_status_code = CASE WHEN d.state = 'pending' THEN ${attempt.statusCode}::int ELSE d.last_status_code END,
          last_duration_ms = CASE WHEN d.state = 'pending' THEN ${attempt.durationMs}::int ELSE d.last_duration_ms END,
          last_error = CASE WHEN d.state = 'pending' THEN ${attempt.error}::text ELSE d.last_error END
        WHERE d.id = ${deliveryId}::uuid AND d.attempts = ${attempt.number - 1}::int
        RETURNING d.id
      )
      INSERT INTO delivery_attempt (delivery_id, number, at, url, status_code, duration_ms, error, address, timings,
        answer, answer_truncated)
      SELECT id, ${attempt.number}::int, ${attempt.at}::timestamptz, ${attempt.url}, ${attempt.statusCode}::int,
        ${attempt.durationMs}::int, ${attempt.error}::text, ${attempt.address}::text,
        ${JSON.stringify(attempt.timings)}::jsonb, ${attempt.answer}, ${attempt.answerTruncated}
      FROM settled RETURNING number`;
    return recorded.length > 0;
  };
