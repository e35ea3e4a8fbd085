import type {
  Delivery,
  DeliveryDetail,
  DeliveryFilter,
  DeliveryState,
  DueCursor,
  DueDelivery,
  EventType,
  LoggedAttempt,
  OverdueDeliveries,
  Reader,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, isOneOf, query, type RowOf, selectList, typed } from '../query.js';
import { readNewest } from '../read-newest.js';
import { NIL } from '../uuid-bounds.js';
import { newestMatching } from './delivery-filter.js';

const STORED = columns({
  ...all('uuid', 'id', 'eventId'),
  state: typed<DeliveryState>('text'),
  attempts: 'int4',
  createdAt: 'timestamptz',
  ...all('timestamptz?', 'nextAttemptAt', 'lastAttemptAt'),
  ...all('int4?', 'lastStatusCode', 'lastDurationMs'),
  lastError: 'text?',
});
const DELIVERY_LIST = selectList('d', STORED);
/** The same columns of a query of them. */
const FOUND_LIST = Prisma.raw(
  Object.keys(STORED)
    .map((name) => `found."${name}"`)
    .join(', '),
);

const deliveryOfRow = <R extends RowOf<typeof STORED> & { eventType: EventType }>(row: R) => {
  const { lastAttemptAt: at, lastStatusCode: statusCode, lastDurationMs, lastError: error, ...delivery } = row;
  return { ...delivery, last: at === null ? null : { at, statusCode, durationMs: lastDurationMs ?? 0, error } };
};

/** The longest page, and one row more that shows whether there is a next one. Fixed, since it is part of a statement's text. */
const LARGEST_PAGE = 101;

const ATTEMPT = columns({
  ...all('int4', 'number', 'durationMs'),
  at: 'timestamptz',
  url: 'text',
  statusCode: 'int4?',
  ...all('text?', 'error', 'address'),
  timings: typed<LoggedAttempt['timings']>('jsonb'),
  answer: 'bytea',
  answerTruncated: 'bool',
});

/** One delivery with its attempts, oldest first; `null` when there is none that `reader` may read. */
export const findDelivery =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<DeliveryDetail | null> => {
    const [row] = await query(db, STORED)`
      SELECT ${DELIVERY_LIST} FROM delivery d
      WHERE ${isOneOf(Prisma.sql`d.id`, [id])} AND d.account_id = ${accountId}::uuid AND (d.test OR NOT ${testOnly}::boolean)`;
    if (!row) return null;
    // An event may be years older than its delivery. A join would open the partitions of all these years.
    const [event] = await query(db, { eventType: typed<EventType>('text'), body: 'text' })`
      SELECT type AS "eventType", body FROM event WHERE ${isOneOf(Prisma.sql`id`, [row.eventId])}`;
    if (!event) return null;
    // An attempt that is recorded between the statements is left out, so that the result is consistent.
    const log = await query(db, ATTEMPT)`
      SELECT ${selectList('t', ATTEMPT)} FROM delivery_attempt t
      WHERE ${isOneOf(Prisma.sql`t.delivery_id`, [id])} AND t.number <= ${row.attempts}::int ORDER BY t.number`;
    return { ...deliveryOfRow({ ...row, ...event }), log };
  };

/** Deliveries that `reader` may read before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor. */
export const listDeliveries =
  (db: Queryable, now: () => Date = () => new Date()) =>
  async (
    reader: Reader,
    { status, event, ...period }: DeliveryFilter,
    beforeId: string | null,
    limit: number,
  ): Promise<Delivery[]> => {
    const page = { beforeId, period, limit, now: now() };
    const states = status && [status];
    const rows = await readNewest(page, (range, most) => {
      const matching = { reader, states, event, page, range };
      return query(db, STORED)`
        SELECT ${FOUND_LIST} FROM (${newestMatching(DELIVERY_LIST, matching, Math.max(most, LARGEST_PAGE))}) AS found
        ORDER BY found.id DESC LIMIT ${most}::int`;
    });
    if (rows.length === 0) return [];
    const events = await query(db, { id: 'uuid', eventType: typed<EventType>('text') })`
      SELECT id, type AS "eventType" FROM event WHERE ${isOneOf(
        Prisma.sql`id`,
        rows.map(({ eventId }) => eventId),
      )}`;
    const typeOf = new Map(events.map(({ id, eventType }) => [id, eventType]));
    return rows.flatMap((row) => {
      const eventType = typeOf.get(row.eventId);
      return eventType === undefined ? [] : [deliveryOfRow({ ...row, eventType })];
    });
  };

/** The domain's due delivery. */
export const DUE = columns({ id: 'uuid', accountId: 'uuid', attempt: 'int4', dueAt: 'timestamptz!' });

const OVERDUE = columns({
  ...all('uuid[]', 'ids', 'toHold', 'toEnd'),
  attempts: 'int4[]',
  read: 'int4',
  lastDueAt: 'timestamptz!',
  lastId: 'uuid',
});

/**
 * A page of the pending deliveries due before `before` that are not held, oldest first; in arrays, since a row each costs more.
 * Values in sub-selects: from the values themselves Postgres expects a handful of rows, since hardly any delivery is pending
 * or many are due at the same time, and sorts all pending deliveries for each page.
 */
export const overdueDeliveries =
  (db: Queryable) =>
  async (before: Date, after: DueCursor | null, limit: number): Promise<OverdueDeliveries> => {
    const [page] = await query(db, OVERDUE)`
      WITH page AS MATERIALIZED (
        SELECT d.id, d.attempts, d.next_attempt_at, a.disabled_at IS NOT NULL AS disabled, w.account_id IS NULL AS removed
        FROM (
          SELECT id, account_id, generation, attempts, next_attempt_at FROM delivery
          WHERE state = 'pending' AND NOT held AND next_attempt_at < (SELECT ${before}::timestamptz)
            AND (next_attempt_at, id)
              > ((SELECT ${after?.dueAt ?? new Date(0)}::timestamptz), (SELECT ${after?.id ?? NIL}::uuid))
          ORDER BY next_attempt_at, id LIMIT (SELECT ${limit}::int)
        ) AS d LEFT JOIN account a ON a.id = d.account_id
          LEFT JOIN webhook w ON w.account_id = d.account_id AND w.generation = d.generation
      ), to_send AS MATERIALIZED (SELECT id, attempts FROM page WHERE NOT disabled AND NOT removed)
      SELECT ARRAY(SELECT id FROM to_send) AS ids, ARRAY(SELECT attempts FROM to_send) AS attempts,
        ARRAY(SELECT id FROM page WHERE disabled) AS "toHold",
        ARRAY(SELECT id FROM page WHERE removed AND NOT disabled) AS "toEnd",
        (SELECT count(*) FROM page)::int AS read, last.next_attempt_at AS "lastDueAt", last.id AS "lastId"
      FROM (SELECT next_attempt_at, id FROM page ORDER BY next_attempt_at DESC, id DESC LIMIT 1) AS last`;
    if (!page) return { toSend: [], toHold: [], toEnd: [], next: null };
    const { ids, attempts, toHold, toEnd, read, lastDueAt, lastId } = page;
    const toSend = ids.map((id, n) => ({ id, attempt: (attempts[n] ?? 0) + 1 }));
    return { toSend, toHold, toEnd, next: read === limit ? { dueAt: lastDueAt, id: lastId } : null };
  };

/** Those of the deliveries that are pending and not held. */
export const findPendingDeliveries =
  (db: Queryable) =>
  async (ids: string[]): Promise<DueDelivery[]> => {
    return query(db, DUE)`
      SELECT id, account_id AS "accountId", attempts + 1 AS attempt, next_attempt_at AS "dueAt" FROM delivery
      WHERE id = ANY(${ids}::uuid[]) AND state = 'pending' AND NOT held`;
  };
