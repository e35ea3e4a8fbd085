import type { DeliveryPlan, LoggedAttempt } from '@vat/domain';
import { coalesce } from '../coalesce.js';
import type { Queryable } from '../connect-database.js';

/** What is due: one attempt of one delivery. `number` counts from 1. */
export type AttemptToClaim = { deliveryId: string; number: number; now: Date; leasedUntil: Date };

/** A claimed attempt, with the endpoint of this moment; `endpoint` is null when it was removed. */
export type ClaimedAttempt = {
  eventId: string;
  eventType: string;
  body: string;
  dueAt: Date;
  endpoint: { url: string; secretSealed: Uint8Array } | null;
};

/**
 * `not_yet`: it is due or free again at `at`. `settled`: this attempt was made, or the delivery has ended. `held`: its
 * account is disabled; the sweep gives it a job when that ends.
 */
export type Claim =
  | { kind: 'claimed'; attempt: ClaimedAttempt }
  | { kind: 'not_yet'; at: Date }
  | { kind: 'settled' }
  | { kind: 'held' };

type Row = {
  n: number;
  held: boolean;
  event_id: string;
  type: string;
  body: string;
  next_attempt_at: Date;
  url: string | null;
  secret_sealed: Uint8Array | null;
};

/** Statements of this kind that may be under way at once; calls coalesce for the next one. */
const CLAIMS_AT_ONCE = 1;

const claimedOf = (row: Row): Claim => {
  if (row.held) return { kind: 'held' };
  const { url, secret_sealed: secretSealed } = row;
  const endpoint = url === null || secretSealed === null ? null : { url, secretSealed };
  const { event_id: eventId, type: eventType, body, next_attempt_at: dueAt } = row;
  return { kind: 'claimed', attempt: { eventId, eventType, body, dueAt, endpoint } };
};

/**
 * Claims an attempt for this process until the lease ends, so that a job that comes twice (the queue was lost, its worker
 * stood still) is sent once. The lease is longer than an attempt can take: it runs out only when its process is dead.
 * Whether the account is disabled is read by the same statement: nothing that is claimed after the disabling is sent.
 */
export const claimDelivery = (db: Queryable): ((attempt: AttemptToClaim) => Promise<Claim>) => {
  const claimAll = async (wanted: AttemptToClaim[]): Promise<(Row | undefined)[]> => {
    const list = wanted.map((attempt, n) => ({
      n,
      id: attempt.deliveryId,
      number: attempt.number,
      at: attempt.now,
      until: attempt.leasedUntil,
    }));
    // Of several claims of one delivery the update serves one.
    const rows = await db.$queryRaw<Row[]>`
      WITH claimed AS (
        UPDATE delivery d SET held = a.disabled_at IS NOT NULL,
          leased_until = CASE WHEN a.disabled_at IS NULL THEN w.until END
        FROM jsonb_to_recordset(${JSON.stringify(list)}::jsonb)
          AS w(n int, id uuid, number int, at timestamptz, until timestamptz), account a
        WHERE d.id = w.id AND a.id = d.account_id AND d.state = 'pending' AND d.attempts = w.number - 1 AND d.next_attempt_at <= w.at
          AND (d.leased_until IS NULL OR d.leased_until <= w.at)
        RETURNING w.n, d.held, d.account_id, d.event_id, d.generation, d.next_attempt_at
      )
      SELECT c.n, c.held, c.event_id, c.next_attempt_at, e.type, e.body, w.url, w.secret_sealed
      FROM claimed c JOIN event e ON e.id = c.event_id
        LEFT JOIN webhook w ON w.account_id = c.account_id AND w.generation = c.generation`;
    const byPlace = new Map(rows.map((row) => [row.n, row]));
    return wanted.map((_attempt, n) => byPlace.get(n));
  };
  const claim = coalesce(claimAll, CLAIMS_AT_ONCE);

  return async (attempt) => {
    const row = await claim(attempt);
    if (row) return claimedOf(row);
    const [waiting] = await db.$queryRaw<{ at: Date }[]>`
      SELECT GREATEST(next_attempt_at, leased_until) AS at FROM delivery
      WHERE id = ${attempt.deliveryId}::uuid AND state = 'pending' AND attempts = ${attempt.number - 1}::int`;
    return waiting ? { kind: 'not_yet', at: waiting.at } : { kind: 'settled' };
  };
};

/** Gives back a claim whose attempt was called off: it is no attempt, and due at once for whoever comes next. */
export const releaseDelivery =
  (db: Queryable) =>
  async (deliveryId: string, number: number): Promise<void> => {
    await db.$executeRaw`
      UPDATE delivery SET leased_until = NULL
      WHERE id = ${deliveryId}::uuid AND state = 'pending' AND attempts = ${number - 1}::int`;
  };

export type AttemptToRecord = { deliveryId: string; attempt: LoggedAttempt; plan: DeliveryPlan };

/** Statements of this kind that may be under way at once; calls coalesce for the next one. */
const RECORDS_AT_ONCE = 1;

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
  return coalesce(recordAll, RECORDS_AT_ONCE);
};
