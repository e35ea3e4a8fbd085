import type { DeliveryPlan, LoggedAttempt } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { gather } from '../gather.js';

export type AttemptToRecord = { deliveryId: string; attempt: LoggedAttempt; plan: DeliveryPlan };

/** Statements of this kind that may be under way at once; calls gather for the next one. */
const LANES = 1;

/**
 * Logs an attempt and settles what follows from it, in one statement, once however often it is run: false when another
 * run had recorded this attempt. A delivery that was ended meanwhile (its endpoint was removed) keeps its end; what was
 * sent is logged all the same.
 */
export const recordAttempt = (db: Queryable): ((recorded: AttemptToRecord) => Promise<boolean>) => {
  const recordAll = async (made: AttemptToRecord[]): Promise<boolean[]> => {
    const list = made.map(({ deliveryId, attempt, plan }, n) => ({
      n,
      id: deliveryId,
      state: plan.state,
      next_attempt_at: plan.nextAttemptAt,
      number: attempt.number,
      at: attempt.at,
      url: attempt.url,
      status_code: attempt.statusCode,
      duration_ms: attempt.durationMs,
      error: attempt.error,
      address: attempt.address,
      timings: attempt.timings,
      answer: Buffer.from(attempt.answer).toString('hex'),
      answer_truncated: attempt.answerTruncated,
    }));
    const settled = await db.$queryRaw<{ n: number }[]>`
      WITH made AS (
        SELECT n, id, state, next_attempt_at, number, at, url, status_code, duration_ms, error, address, timings, answer,
          answer_truncated
        FROM jsonb_to_recordset(${JSON.stringify(list)}::jsonb) AS m(n int, id uuid, state text,
          next_attempt_at timestamptz, number int, at timestamptz, url text, status_code int, duration_ms int, error text,
          address text, timings jsonb, answer text, answer_truncated boolean)
      ), settled AS (
        UPDATE delivery d SET attempts = m.number, leased_until = NULL,
          state = CASE WHEN d.state = 'pending' THEN m.state ELSE d.state END,
          next_attempt_at = CASE WHEN d.state = 'pending' THEN m.next_attempt_at END,
          last_attempt_at = CASE WHEN d.state = 'pending' THEN m.at ELSE d.last_attempt_at END,
          last_status_code = CASE WHEN d.state = 'pending' THEN m.status_code ELSE d.last_status_code END,
          last_duration_ms = CASE WHEN d.state = 'pending' THEN m.duration_ms ELSE d.last_duration_ms END,
          last_error = CASE WHEN d.state = 'pending' THEN m.error ELSE d.last_error END
        FROM made m WHERE d.id = m.id AND d.attempts = m.number - 1
        RETURNING m.n
      ), logged AS (
        INSERT INTO delivery_attempt (delivery_id, number, at, url, status_code, duration_ms, error, address, timings,
          answer, answer_truncated)
        SELECT m.id, m.number, m.at, m.url, m.status_code, m.duration_ms, m.error, m.address, m.timings,
          decode(m.answer, 'hex'), m.answer_truncated
        FROM settled s JOIN made m ON m.n = s.n
      )
      SELECT n FROM settled`;
    const places = new Set(settled.map(({ n }) => n));
    return made.map((_recorded, n) => places.has(n));
  };
  return gather(recordAll, LANES);
};
