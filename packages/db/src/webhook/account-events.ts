import {
  type AccountEvent,
  EVENT_TYPES,
  type EventFilter,
  type EventPosition,
  type EventType,
  type Reader,
} from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { columns, isOneOf, query, selectList, typed } from '../query.js';
import { plannedConditions, readNewest } from '../read-newest.js';
import { madeAfter, NIL } from '../uuid-bounds.js';

const EVENT = columns({
  id: 'uuid',
  type: typed<EventType>('text'),
  body: 'text',
  test: 'bool',
  createdAt: 'timestamptz',
});
const EVENT_LIST = selectList('e', EVENT);

/** One event; `null` when there is none that `reader` may read. */
export const findEvent =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<AccountEvent | null> => {
    const [row] = await query(db, EVENT)`
      SELECT ${EVENT_LIST} FROM event e
      WHERE ${isOneOf(Prisma.sql`e.id`, [id])} AND e.account_id = ${accountId}::uuid AND (e.test OR NOT ${testOnly}::boolean)`;
    return row ?? null;
  };

/** A page of events: what it leaves out, its order and its size. */
type Page = { conditions: readonly Prisma.Sql[]; order: Prisma.Sql; limit: number };

/**
 * The page of the events that `reader` may read. Each combination of mode and type is one scan of an index that continues
 * with the order, limited to the size of the page, so that rows which do not match are not read. They are literals and not
 * parameters: a type of which Postgres does not know that it is rare would be searched for in the order of all ids.
 */
const readPage = (
  db: Queryable,
  { accountId, testOnly }: Reader,
  type: EventType | undefined,
  { conditions, order, limit }: Page,
): Promise<AccountEvent[]> => {
  const types = EVENT_TYPES.filter((one) => type === undefined || one === type);
  const pages = (testOnly ? [true] : [true, false]).flatMap((test) =>
    types.map((one) => {
      const matches = [Prisma.sql`account_id = ${accountId}::uuid`, Prisma.raw(`test = ${test} AND type = '${one}'`)];
      return Prisma.sql`
        (SELECT id, type, body, test, created_at, position FROM event
         WHERE ${Prisma.join([...matches, ...conditions], ' AND ')} ORDER BY ${order} LIMIT ${limit}::int)`;
    }),
  );
  return query(db, EVENT)`
    SELECT ${EVENT_LIST} FROM (${Prisma.join(pages, ' UNION ALL ')}) AS e ORDER BY ${order} LIMIT ${limit}::int`;
};

/**
 * Events before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor and bounds the period. The months
 * before the two of the page are read only if these have too few events.
 */
export const listEvents =
  (db: Queryable, now: () => Date = () => new Date()) =>
  async (reader: Reader, filter: EventFilter, beforeId: string | null, limit: number): Promise<AccountEvent[]> => {
    const page = { beforeId, period: filter, limit, now: now() };
    const conditions = plannedConditions(Prisma.sql`created_at`, page);
    return readNewest(page, (range, most) =>
      readPage(db, reader, filter.type, {
        conditions: [...conditions, range],
        order: Prisma.sql`id DESC`,
        limit: most,
      }),
    );
  };

/**
 * The position of an event that `reader` may read, with null the one before all events, and that of the account's newest event.
 * `null` when the event is not stored, unless it is the newest of the account: a caller who has it continues after it has expired.
 */
export const findEventPosition =
  (db: Queryable) =>
  async (
    after: string | null,
    { accountId, testOnly }: Reader,
  ): Promise<{ after: EventPosition; newest: string } | null> => {
    if (after === null) {
      const [row] = await query(db, { newest: 'text' })`
        SELECT position::text AS newest FROM newest_event WHERE account_id = ${accountId}::uuid`;
      return { after: { position: '0', id: NIL }, newest: row?.newest ?? '0' };
    }
    const [row] = await query(db, { position: 'text?', newest: 'text' })`
      WITH newest AS (SELECT event_id, position FROM newest_event WHERE account_id = ${accountId}::uuid)
      SELECT COALESCE(
        (SELECT position FROM event WHERE ${isOneOf(Prisma.sql`id`, [after])} AND account_id = ${accountId}::uuid
          AND (test OR NOT ${testOnly}::boolean)),
        (SELECT position FROM newest WHERE event_id = ${after}::uuid AND NOT ${testOnly}::boolean)
      )::text AS position, COALESCE((SELECT position FROM newest), 0)::text AS newest`;
    const position = row?.position ?? null;
    return position === null ? null : { after: { position, id: after }, newest: row?.newest ?? '0' };
  };

/** Events after a position, in the order of positions. An event is inserted within a day of the time of its id. */
export const listEventsAfter =
  (db: Queryable) =>
  (
    reader: Reader,
    type: EventType | undefined,
    { position, id }: EventPosition,
    limit: number,
  ): Promise<AccountEvent[]> =>
    readPage(db, reader, type, {
      conditions: [
        Prisma.sql`(position, id) > (${position}::bigint, ${id}::uuid)`,
        Prisma.sql`id >= ${madeAfter(id)}::uuid`,
      ],
      order: Prisma.sql`position, id`,
      limit,
    });

/** The position of the newest event of each of the accounts that have one. */
export const findNewestPositions =
  (db: Queryable) =>
  (accountIds: readonly string[]): Promise<{ accountId: string; position: string }[]> =>
    query(db, { accountId: 'uuid', position: 'text' })`
      SELECT account_id AS "accountId", position::text AS position FROM newest_event
      WHERE account_id = ANY(${[...accountIds]}::uuid[])`;
