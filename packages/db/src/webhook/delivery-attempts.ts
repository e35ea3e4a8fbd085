import type { AttemptToClaim, AttemptToRecord, Claim } from '@vat/domain';
import { coalesce } from '../coalesce.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, isSameId, query, type RowOf } from '../query.js';
import { madeSoon } from '../uuid-bounds.js';

const CLAIMED = columns({
  n: 'int4',
  held: 'bool',
  eventId: 'uuid',
  ...all('text?', 'eventType', 'body'),
  dueAt: 'timestamptz!',
  url: 'text?',
  secretSealed: 'bytea?',
});
type Claimed = RowOf<typeof CLAIMED>;

const EVENT = columns(all('text', 'eventType', 'body'));
type Event = RowOf<typeof EVENT>;

/** The number of claim statements that run at once; further calls share the next one. */
const CLAIM_CONCURRENCY = 1;

const claimOf = ({ held, url, secretSealed, eventId, dueAt }: Claimed, event: Event): Claim => {
  const { eventType, body } = event;
  if (held) return { kind: 'held' };
  const endpoint = url === null || secretSealed === null ? null : { url, secretSealed };
  return { kind: 'claimed', attempt: { eventId, eventType, body, dueAt, endpoint } };
};

/** An event that is much older than its delivery, such as of a resend. */
export const readEventToSend = async (db: Queryable, eventId: string): Promise<Event | undefined> => {
  const [event] = await query(
    db,
    EVENT,
  )`SELECT type AS "eventType", body FROM event WHERE ${isOneOf(Prisma.sql`id`, [eventId])}`;
  return event;
};

/** Deletes a delivery whose event expired while it was written: it can neither be sent nor shown. */
export const deleteDelivery = (db: Queryable, id: string): Promise<number> =>
  db.$executeRaw`DELETE FROM delivery WHERE ${isOneOf(Prisma.sql`id`, [id])}`;

/**
 * Claims an attempt for this process until the lease ends, so that an attempt is sent once even if its job runs twice (after
 * the queue was lost or its worker was blocked). The lease is longer than any attempt, so it expires only when its process
 * is dead. The same statement checks that the account is enabled, so that nothing is claimed after it was disabled.
 */
export const claimDelivery = (db: Queryable): ((attempt: AttemptToClaim) => Promise<Claim>) => {
  const claimAll = async (wanted: AttemptToClaim[]): Promise<(Claimed | undefined)[]> => {
    const list = wanted.map((attempt, n) => ({
      n,
      id: attempt.deliveryId,
      number: attempt.number,
      at: attempt.now,
      until: attempt.leasedUntil,
    }));
    const ids = wanted.map(({ deliveryId }) => deliveryId);
    const soon = madeSoon(ids);
    // Of several claims of one delivery, the UPDATE grants one. The ids restrict it to their partitions.
    const rows = await query(db, CLAIMED)`
      WITH wanted AS (
        SELECT n, id, number, at, until FROM jsonb_to_recordset(${JSON.stringify(list)}::jsonb)
          AS x(n int, id uuid, number int, at timestamptz, until timestamptz)
      ), locked AS MATERIALIZED (
        SELECT id FROM delivery WHERE ${isOneOf(Prisma.sql`id`, ids)} ORDER BY id FOR UPDATE
      ), claimed AS (
        UPDATE delivery d SET held = a.disabled_at IS NOT NULL,
          leased_until = CASE WHEN a.disabled_at IS NULL THEN w.until END
        FROM wanted w, account a
        WHERE ${isSameId(Prisma.sql`d.id`, Prisma.sql`w.id`)} AND d.id = ANY(ARRAY(SELECT id FROM locked))
          AND ${isOneOf(Prisma.sql`d.id`, ids)} AND a.id = d.account_id AND d.state = 'pending' AND d.attempts = w.number - 1 AND d.next_attempt_at <= w.at
          AND (d.leased_until IS NULL OR d.leased_until <= w.at)
        RETURNING w.n, d.held, d.account_id, d.event_id, d.generation, d.next_attempt_at
      )
      SELECT c.n, c.held, c.event_id AS "eventId", c.next_attempt_at AS "dueAt", e.type AS "eventType", e.body, w.url,
        w.secret_sealed AS "secretSealed"
      FROM claimed c
        LEFT JOIN LATERAL (
          SELECT type, body FROM event WHERE id = c.event_id AND id >= ${soon.from}::uuid AND id < ${soon.to}::uuid LIMIT 1
        ) e ON true
        LEFT JOIN webhook w ON w.account_id = c.account_id AND w.generation = c.generation`;
    const byIndex = new Map(rows.map((row) => [row.n, row]));
    return wanted.map((_attempt, n) => byIndex.get(n));
  };
  const claim = coalesce(claimAll, { concurrency: CLAIM_CONCURRENCY });

  return async (attempt) => {
    const row = await claim(attempt);
    if (row) {
      const { eventType, body } = row;
      const event = eventType === null || body === null ? await readEventToSend(db, row.eventId) : { eventType, body };
      if (event) return claimOf(row, event);
      await deleteDelivery(db, attempt.deliveryId);
      return { kind: 'settled' };
    }
    const [waiting] = await query(db, { at: 'timestamptz' })`
      SELECT GREATEST(next_attempt_at, leased_until) AS at FROM delivery
      WHERE ${isOneOf(Prisma.sql`id`, [attempt.deliveryId])} AND state = 'pending' AND attempts = ${attempt.number - 1}::int`;
    return waiting ? { kind: 'not_yet', at: waiting.at } : { kind: 'settled' };
  };
};

/**
 * Releases a claim whose attempt was cancelled: it does not count, and is due at once. `leasedUntil`: as claimed, since a
 * worker that was blocked for longer than its lease must not release the claim of the next one.
 */
export const releaseDelivery =
  (db: Queryable) =>
  async ({ deliveryId, number, leasedUntil }: Omit<AttemptToClaim, 'now'>): Promise<void> => {
    await db.$executeRaw`
      UPDATE delivery SET leased_until = NULL
      WHERE ${isOneOf(Prisma.sql`id`, [deliveryId])} AND state = 'pending' AND attempts = ${number - 1}::int
        AND leased_until = ${leasedUntil}::timestamptz`;
  };

/** The number of record statements that run at once; further calls share the next one. */
const RECORD_CONCURRENCY = 1;

/**
 * Logs an attempt and updates its delivery, in one idempotent statement; false when this attempt was already recorded. The
 * state of a delivery that ended in the meantime (its endpoint was removed) does not change, but the attempt is logged. The
 * next attempt waits for the lease of a worker that took this one over because the lease of this worker had expired.
 */
export const recordAttempt = (db: Queryable): ((recorded: AttemptToRecord) => Promise<boolean>) => {
  const recordAll = async (made: AttemptToRecord[]): Promise<boolean[]> => {
    const ids = made.map(({ deliveryId }) => deliveryId);
    const list = made.map(({ deliveryId, attempt, plan, leasedUntil }, n) => ({
      n,
      id: deliveryId,
      state: plan.state,
      next_attempt_at: plan.nextAttemptAt,
      leased_until: leasedUntil,
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
    const settled = await query(db, { n: 'int4' })`
      WITH made AS (
        SELECT n, id, state, next_attempt_at, leased_until, number, at, url, status_code, duration_ms, error, address, timings, answer,
          answer_truncated
        FROM jsonb_to_recordset(${JSON.stringify(list)}::jsonb) AS m(n int, id uuid, state text,
          next_attempt_at timestamptz, leased_until timestamptz, number int, at timestamptz, url text, status_code int,
          duration_ms int, error text, address text, timings jsonb, answer text, answer_truncated boolean)
      ), locked AS MATERIALIZED (
        SELECT id FROM delivery WHERE ${isOneOf(Prisma.sql`id`, ids)} ORDER BY id FOR UPDATE
      ), settled AS (
        UPDATE delivery d SET attempts = m.number,
          leased_until = CASE WHEN m.state = 'pending' AND d.leased_until <> m.leased_until THEN d.leased_until END,
          state = CASE WHEN d.state = 'pending' THEN m.state ELSE d.state END,
          next_attempt_at = CASE WHEN d.state = 'pending' THEN m.next_attempt_at END,
          last_attempt_at = CASE WHEN d.state = 'pending' THEN m.at ELSE d.last_attempt_at END,
          last_status_code = CASE WHEN d.state = 'pending' THEN m.status_code ELSE d.last_status_code END,
          last_duration_ms = CASE WHEN d.state = 'pending' THEN m.duration_ms ELSE d.last_duration_ms END,
          last_error = CASE WHEN d.state = 'pending' THEN m.error ELSE d.last_error END
        FROM made m
        WHERE ${isSameId(Prisma.sql`d.id`, Prisma.sql`m.id`)} AND d.id = ANY(ARRAY(SELECT id FROM locked))
          AND ${isOneOf(Prisma.sql`d.id`, ids)} AND d.attempts = m.number - 1
        RETURNING m.n
      ), logged AS (
        INSERT INTO delivery_attempt (delivery_id, number, at, url, status_code, duration_ms, error, address, timings,
          answer, answer_truncated)
        SELECT m.id, m.number, m.at, m.url, m.status_code, m.duration_ms, m.error, m.address, m.timings,
          decode(m.answer, 'hex'), m.answer_truncated
        FROM settled s JOIN made m ON m.n = s.n
      )
      SELECT n FROM settled`;
    const recorded = new Set(settled.map(({ n }) => n));
    return made.map((_attempt, n) => recorded.has(n));
  };
  return coalesce(recordAll, { concurrency: RECORD_CONCURRENCY });
};
