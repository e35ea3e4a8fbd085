import { DELIVERY_STATES, type DeliveryState, EVENT_TYPES, type EventType, type Reader } from '@vat/domain';
import { Prisma } from '../generated/client.js';
import { type Page, pageConditions, plannedConditions } from '../read-newest.js';

/** Which deliveries match. `range`: a further condition about `id`. */
type Matching = {
  reader: Reader;
  states?: readonly DeliveryState[] | undefined;
  event?: EventType | undefined;
  page: Pick<Page, 'beforeId' | 'period'>;
  range: Prisma.Sql;
};

/**
 * A query of the columns `selected` of the newest deliveries `d` that match and that `reader` may read, in any order. With a
 * state or an event, each combination of mode, state and event is one scan of an index that is in the order of ids, limited to
 * `most`, so that rows which do not match are not read. `most` is part of the text: for a limit that it does not know, Postgres
 * expects so few rows that any index in this order would do.
 */
export const newestMatching = (
  selected: Prisma.Sql,
  { reader, states, event, page, range }: Matching,
  most: number,
): Prisma.Sql => {
  const owned = Prisma.sql`account_id = ${reader.accountId}::uuid`;
  const pageOf = (conditions: readonly Prisma.Sql[]) => Prisma.sql`
    (SELECT ${selected} FROM delivery d WHERE ${Prisma.join([owned, ...conditions, range], ' AND ')}
     ORDER BY d.id DESC LIMIT ${Prisma.raw(String(most))})`;
  if (states === undefined && event === undefined) {
    // A literal and not a parameter: the partial index of test deliveries is used only when the condition is in the statement.
    const mode = reader.testOnly ? [Prisma.sql`test`] : [];
    return pageOf([...mode, ...pageConditions(Prisma.sql`created_at`, page)]);
  }
  const bounds = plannedConditions(Prisma.sql`created_at`, page);
  const kinds = (reader.testOnly ? [true] : [true, false]).flatMap((test) =>
    (states ?? DELIVERY_STATES).flatMap((state) =>
      (event === undefined ? EVENT_TYPES : [event]).map(
        (type) => Prisma.sql`test = ${test} AND state = ${state} AND event_type = ${type}`,
      ),
    ),
  );
  return Prisma.join(
    kinds.map((kind) => pageOf([kind, ...bounds])),
    ' UNION ALL ',
  );
};
