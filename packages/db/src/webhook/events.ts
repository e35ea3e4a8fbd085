import type { NewEvent, OnDemandResult, Reader } from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { columns, isOneOf, query, type RowOf } from '../query.js';

/**
 * The endpoint of an account, for a query in whose FROM clause `accountId` names a column of the events that the same statement
 * inserts. The LIMIT makes Postgres read the events first: all statements lock the row of `newest_event` (a trigger of
 * `event`) before those of `usage`, whether the account has an endpoint or not (docs/architecture.md, Order of locks).
 */
export const endpointOf = (accountId: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`LATERAL (SELECT generation FROM webhook WHERE account_id = ${accountId} LIMIT 1)`;

/**
 * The CTEs `published` and `sent`: insert an event, which a trigger gives its position, and, if the account has an endpoint, its first
 * delivery, in the transaction that causes them. `about`: a query of (id, account_id, test) of one subject, or of none to
 * publish nothing. `onDemand`: the event was requested by the account itself (a test event). A statement that locks rows after
 * those of the event must read `sent` in its main query.
 */
export const publishToAccount = (
  event: NewEvent,
  deliveryId: string,
  now: Date,
  about: Prisma.Sql,
  { onDemand }: { onDemand: boolean } = { onDemand: false },
): Prisma.Sql => Prisma.sql`
  published AS (
    INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
    SELECT ${event.id}::uuid, about.account_id, ${event.type}, about.id, ${event.body}, about.test, ${now}::timestamptz
    FROM (${about}) AS about(id, account_id, test)
    RETURNING id, account_id, test
  ), sent AS (
    INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, test, on_demand, created_at, next_attempt_at)
    SELECT ${deliveryId}::uuid, published.account_id, published.id, ${event.type}, w.generation, 'pending', published.test, ${onDemand},
      ${now}::timestamptz, ${now}::timestamptz
    FROM published, ${endpointOf(Prisma.sql`published.account_id`)} AS w
    RETURNING id
  )`;

/** `test`: whether a test key requested it. */
export type TestEvent = { accountId: string; test: boolean; event: NewEvent; deliveryId: string; now: Date };
export type Resend = { deliveryId: string; reader: Reader; newDeliveryId: string; now: Date };

/** The CTE `pending`: the number of pending deliveries that the account itself requested. */
export const countPending = (accountId: string): Prisma.Sql => Prisma.sql`
  pending AS (
    SELECT count(*)::int AS n FROM delivery WHERE account_id = ${accountId}::uuid AND state = 'pending' AND on_demand
  )`;

/** No lock is needed this far below the limit. */
const UNLOCKED_DISTANCE = 500;

const MADE = columns({ made: 'bool', pending: 'int4' });

/** Inserts when fewer than `below` deliveries are pending; returns whether it did and their number, or no row when there is nothing to resend. */
type Write = (db: Queryable, below: number) => Promise<RowOf<typeof MADE>[]>;

/**
 * Runs the statement that counts and inserts. Near the limit, the calls of an account are serialized by a lock on the row of
 * its endpoint; the lock is a separate statement, because a count with an older snapshot would miss the rows of the previous
 * call. Far below the limit one statement is enough: an API process makes these calls one at a time per account, so a count
 * could only be too low if one call stalled while hundreds of others ended.
 */
const writeWithin = async (
  db: Database,
  accountId: string,
  maxPending: number,
  write: Write,
): Promise<OnDemandResult> => {
  const [row] = await write(db, maxPending - UNLOCKED_DISTANCE);
  if (!row) return { kind: 'not_found' };
  if (row.made) return { kind: 'made' };
  return db.$transaction(async (tx) => {
    const locked = await query(tx, { locked: 'bool' })`
      SELECT true AS locked FROM webhook WHERE account_id = ${accountId}::uuid FOR NO KEY UPDATE`;
    if (locked.length === 0) return { kind: 'no_webhook' };
    const [again] = await write(tx, maxPending);
    if (!again) return { kind: 'not_found' };
    return again.made ? { kind: 'made' } : { kind: 'too_many', pending: again.pending };
  });
};

/** Publishes a webhook.test event, which is its own subject. */
export const sendTestEvent =
  (db: Database, maxPending: number) =>
  ({ accountId, test, event, deliveryId, now }: TestEvent): Promise<OnDemandResult> => {
    const about = (below: number) => Prisma.sql`
      SELECT ${event.id}::uuid, w.account_id, ${test}::boolean FROM webhook w, pending
      WHERE w.account_id = ${accountId}::uuid AND pending.n < ${below}::int`;
    return writeWithin(
      db,
      accountId,
      maxPending,
      (tx, below) => query(tx, MADE)`
        WITH ${countPending(accountId)}, ${publishToAccount(event, deliveryId, now, about(below), { onDemand: true })}
        SELECT EXISTS (SELECT 1 FROM sent) AS made, n AS pending FROM pending`,
    );
  };

/** Creates a new delivery of the event of an existing one that `reader` may read, to the current endpoint. */
export const resendDelivery =
  (db: Database, maxPending: number) =>
  ({ deliveryId, reader: { accountId, testOnly }, newDeliveryId, now }: Resend): Promise<OnDemandResult> =>
    writeWithin(
      db,
      accountId,
      maxPending,
      (tx, below) => query(tx, MADE)`
        WITH ${countPending(accountId)}, old AS (
          SELECT event_id, event_type, test FROM delivery
          WHERE ${isOneOf(Prisma.sql`id`, [deliveryId])} AND account_id = ${accountId}::uuid AND (test OR NOT ${testOnly}::boolean)
        ), made AS (
          INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, test, on_demand, created_at, next_attempt_at)
          SELECT ${newDeliveryId}::uuid, w.account_id, old.event_id, old.event_type, w.generation, 'pending', old.test, true,
            ${now}::timestamptz, ${now}::timestamptz
          FROM old, webhook w, pending WHERE w.account_id = ${accountId}::uuid AND pending.n < ${below}::int
          RETURNING id
        )
        SELECT EXISTS (SELECT 1 FROM made) AS made, n AS pending FROM pending, old`,
    );
