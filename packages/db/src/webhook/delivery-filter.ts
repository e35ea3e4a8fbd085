import { DELIVERY_STATES, type DeliveryState, EVENT_TYPES, type EventType, type Reader } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** Which deliveries match. `conditions`: further ones, about columns of `delivery`. */
type Matching = {
  reader: Reader;
  states?: readonly DeliveryState[] | undefined;
  event?: EventType | undefined;
  conditions: readonly Prisma.Sql[];
};

/**
 * A query of the columns `selected` of the newest deliveries `d` that match and that `reader` may read, in any order. With a
 * state or an event, each combination of mode, state and event is one scan of an index that is in the order of ids, limited to
 * `most`, so that rows which do not match are not read.
 */
export const newestMatching = (
  selected: Prisma.Sql,
  { reader, states, event, conditions }: Matching,
  most: number,
): Prisma.Sql => {
  const modes = reader.testOnly ? [true] : [true, false];
  const kinds =
    states === undefined && event === undefined
      ? // A literal and not a parameter: the partial index of test deliveries is used only when the condition is in the statement.
        [reader.testOnly ? [Prisma.sql`test`] : []]
      : modes.flatMap((test) =>
          (states ?? DELIVERY_STATES).flatMap((state) =>
            (event === undefined ? EVENT_TYPES : [event]).map((type) => [
              Prisma.sql`test = ${test}`,
              Prisma.sql`state = ${state}`,
              Prisma.sql`event_type = ${type}`,
            ]),
          ),
        );
  const owned = Prisma.sql`account_id = ${reader.accountId}::uuid`;
  const pages = kinds.map(
    (kind) => Prisma.sql`
      (SELECT ${selected} FROM delivery d WHERE ${Prisma.join([owned, ...conditions, ...kind], ' AND ')}
       ORDER BY d.id DESC LIMIT ${most}::int)`,
  );
  return Prisma.join(pages, ' UNION ALL ');
};
