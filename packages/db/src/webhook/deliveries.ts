import type {
  Delivery,
  DeliveryDetail,
  DeliveryState,
  DueCursor,
  DueDelivery,
  EventType,
  LoggedAttempt,
  OverdueDelivery,
  Reader,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { NIL } from '../uuid-bounds.js';

/** A row of `delivery` joined with its event, as raw queries return it. */
export type DeliveryRow = {
  id: string;
  event_id: string;
  event_type: EventType;
  state: DeliveryState;
  attempts: number;
  created_at: Date;
  next_attempt_at: Date | null;
  last_attempt_at: Date | null;
  last_status_code: number | null;
  last_duration_ms: number | null;
  last_error: string | null;
};

/** The columns of {@link DeliveryRow}, for a query with the aliases `delivery` d and `event` e. */
export const DELIVERY_COLUMNS = Prisma.sql`d.id, d.event_id, e.type AS event_type, d.state, d.attempts, d.created_at,
  d.next_attempt_at, d.last_attempt_at, d.last_status_code, d.last_duration_ms, d.last_error`;

/** Converts a row to the domain's delivery. */
export const deliveryOfRow = (row: DeliveryRow): Delivery => ({
  id: row.id,
  eventId: row.event_id,
  eventType: row.event_type,
  state: row.state,
  attempts: row.attempts,
  createdAt: row.created_at,
  nextAttemptAt: row.next_attempt_at,
  last:
    row.last_attempt_at === null
      ? null
      : {
          at: row.last_attempt_at,
          statusCode: row.last_status_code,
          durationMs: row.last_duration_ms ?? 0,
          error: row.last_error,
        },
});

type AttemptRow = {
  number: number;
  at: Date;
  url: string;
  status_code: number | null;
  duration_ms: number;
  error: string | null;
  address: string | null;
  timings: LoggedAttempt['timings'];
  answer: Uint8Array;
  answer_truncated: boolean;
};

/** One delivery with its attempts, oldest first; `null` when there is none that `reader` may read. */
export const findDelivery =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<DeliveryDetail | null> => {
    const [row] = await db.$queryRaw<(DeliveryRow & { body: string })[]>`
      SELECT ${DELIVERY_COLUMNS}, e.body FROM delivery d JOIN event e ON e.id = d.event_id
      WHERE d.id = ${id}::uuid AND d.account_id = ${accountId}::uuid AND (d.test OR NOT ${testOnly}::boolean)`;
    if (!row) return null;
    // An attempt that is recorded between the two statements is left out, so that the result is consistent.
    const attempts = await db.$queryRaw<AttemptRow[]>`
      SELECT number, at, url, status_code, duration_ms, error, address, timings, answer, answer_truncated
      FROM delivery_attempt WHERE delivery_id = ${id}::uuid AND number <= ${row.attempts}::int ORDER BY number`;
    const log = attempts.map((attempt) => ({
      number: attempt.number,
      at: attempt.at,
      url: attempt.url,
      statusCode: attempt.status_code,
      durationMs: attempt.duration_ms,
      error: attempt.error,
      address: attempt.address,
      timings: attempt.timings,
      answer: attempt.answer,
      answerTruncated: attempt.answer_truncated,
    }));
    return { ...deliveryOfRow(row), body: row.body, log };
  };

/** Deliveries that `reader` may read before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor. */
export const listDeliveries =
  (db: Queryable) =>
  async ({ accountId, testOnly }: Reader, beforeId: string | null, limit: number): Promise<Delivery[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND d.id < ${beforeId}::uuid`;
    // A literal and not a parameter: the partial index of test deliveries is used only when the condition is in the statement.
    const mode = testOnly ? Prisma.sql`AND d.test` : Prisma.empty;
    const rows = await db.$queryRaw<DeliveryRow[]>`
      SELECT ${DELIVERY_COLUMNS} FROM delivery d JOIN event e ON e.id = d.event_id
      WHERE d.account_id = ${accountId}::uuid ${mode} ${before} ORDER BY d.id DESC LIMIT ${limit}::int`;
    return rows.map(deliveryOfRow);
  };

/** The columns of a delivery that its next job needs. */
export type DueRow = { id: string; account_id: string; attempts: number; next_attempt_at: Date };

/** Converts a row to the domain's due delivery. */
export const dueDeliveryOf = (row: DueRow): DueDelivery => ({
  id: row.id,
  accountId: row.account_id,
  attempt: row.attempts + 1,
  dueAt: row.next_attempt_at,
});

/** A page of the pending deliveries due before `before` that are not held, oldest first. */
export const dueDeliveries =
  (db: Queryable) =>
  async (before: Date, after: DueCursor | null, limit: number): Promise<OverdueDelivery[]> => {
    const rows = await db.$queryRaw<(DueRow & { account_disabled: boolean })[]>`
      SELECT d.id, d.account_id, d.attempts, d.next_attempt_at, a.disabled_at IS NOT NULL AS account_disabled
      FROM (
        SELECT id, account_id, attempts, next_attempt_at FROM delivery
        WHERE state = 'pending' AND NOT held AND next_attempt_at < ${before}::timestamptz
          AND (next_attempt_at, id) > (${after?.dueAt ?? new Date(0)}::timestamptz, ${after?.id ?? NIL}::uuid)
        ORDER BY next_attempt_at, id LIMIT ${limit}::int
      ) AS d LEFT JOIN account a ON a.id = d.account_id
      ORDER BY d.next_attempt_at, d.id`;
    return rows.map((row) => ({ ...dueDeliveryOf(row), accountDisabled: row.account_disabled }));
  };
