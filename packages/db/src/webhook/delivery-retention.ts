import { type DueDelivery, WEBHOOK_REMOVED } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { inChunks } from '../in-chunks.js';
import { endOfRows } from '../partitions/partitions.js';
import { query } from '../query.js';
import { idAt, MAX_ID } from '../uuid-bounds.js';
import { DUE } from './deliveries.js';

const CHUNK = 5_000;

/**
 * Deletes ended deliveries created before a point in time with their attempts, in chunks. Deletes their test events too;
 * other events are stored as long as their subject. With `wholeMonths` only deliveries outside the partitions of months are
 * deleted, since those are dropped (`maintainPartitions`), and what remains of expired months. Returns the number of
 * deliveries. Each chunk is an array, with which Postgres uses the index of the ids: for a list of unknown length it would read
 * the table.
 */
export const deleteOldDeliveries =
  (db: Queryable) =>
  async (before: Date, { wholeMonths = false } = {}): Promise<number> => {
    const end = wholeMonths ? await endOfRows(db, 'delivery', idAt(before)) : MAX_ID;
    const deleted = await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM delivery WHERE id = ANY(ARRAY(
          SELECT id FROM delivery WHERE state <> 'pending' AND created_at < ${before}::timestamptz AND id < ${end}::uuid
          LIMIT ${CHUNK}::int)) AND id < ${end}::uuid`,
    );
    await inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM event WHERE id = ANY(ARRAY(
          SELECT e.id FROM event e WHERE e.type = 'webhook.test' AND e.created_at < ${before}::timestamptz
            AND (SELECT d.id FROM delivery d WHERE d.event_id = e.id LIMIT 1) IS NULL
          ORDER BY e.created_at LIMIT ${CHUNK}::int))`,
    );
    return deleted;
  };

/**
 * The CTE `locked`: locks the deliveries of an array of ids in the order of their ids, as every statement does that changes
 * several, which prevents deadlocks between them.
 */
const lockDeliveries = (ids: Prisma.Sql): Prisma.Sql => Prisma.sql`
  locked AS MATERIALIZED (SELECT id FROM delivery WHERE id = ANY(${ids}) ORDER BY id FOR UPDATE)`;

const arrayOf = (ids: readonly string[]): Prisma.Sql => Prisma.sql`${[...ids]}::uuid[]`;

/** That the endpoint of the delivery `d` was removed, even if a new one has been set since. */
const IS_REMOVED = Prisma.sql`
  NOT EXISTS (SELECT 1 FROM webhook w WHERE w.account_id = d.account_id AND w.generation = d.generation)`;

/** Ends those of the deliveries that are pending and whose endpoint was removed. Returns the number that it ended. */
const endRemoved = (db: Queryable, now: Date, ids: Prisma.Sql): Promise<number> =>
  db.$executeRaw`
    WITH ${lockDeliveries(ids)}
    UPDATE delivery d SET state = 'failed', next_attempt_at = NULL, leased_until = NULL,
      last_attempt_at = ${now}::timestamptz, last_status_code = NULL, last_duration_ms = 0,
      last_error = ${WEBHOOK_REMOVED}
    WHERE d.id = ANY(ARRAY(SELECT id FROM locked)) AND d.state = 'pending' AND ${IS_REMOVED}`;

/** {@link endRemoved} for deliveries whose event was written during the removal, or that it did not end. */
export const endRemovedDeliveries =
  (db: Queryable) =>
  (now: Date, deliveryIds: readonly string[]): Promise<number> =>
    endRemoved(db, now, arrayOf(deliveryIds));

/** {@link endRemoved} for at most `limit` deliveries of an account. */
export const endRemovedOfAccount =
  (db: Queryable) =>
  (now: Date, accountId: string, limit: number): Promise<number> =>
    endRemoved(
      db,
      now,
      Prisma.sql`ARRAY(
        SELECT d.id FROM delivery d WHERE d.account_id = ${accountId}::uuid AND d.state = 'pending' AND ${IS_REMOVED}
        LIMIT ${limit}::int)`,
    );

/**
 * Holds deliveries while their account is disabled: they leave the index of due deliveries and get no job. Returns their
 * number, without those of an account that was enabled in the meantime.
 */
export const holdDeliveries =
  (db: Queryable) =>
  (deliveryIds: string[]): Promise<number> =>
    db.$executeRaw`
      WITH ${lockDeliveries(arrayOf(deliveryIds))}
      UPDATE delivery d SET held = true FROM account a
      WHERE d.id = ANY(ARRAY(SELECT id FROM locked)) AND d.state = 'pending' AND NOT d.held
        AND a.id = d.account_id AND a.disabled_at IS NOT NULL`;

/**
 * Ends the hold of deliveries whose account is enabled, at most `perAccount` of each account and the earliest due first, and
 * returns them. `next_attempt_at` is unchanged, so the retry schedule continues. Reads one index entry per account with held
 * deliveries, however many a disabled account has: the ORDER BY matches that index, so that Postgres uses it.
 */
export const resumeDeliveries =
  (db: Queryable) =>
  async (perAccount: number): Promise<DueDelivery[]> => {
    return query(db, DUE)`
      WITH RECURSIVE holder AS (
        (SELECT account_id FROM delivery WHERE state = 'pending' AND held
          ORDER BY account_id, next_attempt_at, id LIMIT 1)
        UNION ALL
        SELECT (SELECT d.account_id FROM delivery d WHERE d.state = 'pending' AND d.held AND d.account_id > h.account_id
          ORDER BY d.account_id, d.next_attempt_at, d.id LIMIT 1)
        FROM holder h WHERE h.account_id IS NOT NULL
      ), resumed AS (
        UPDATE delivery d SET held = false WHERE d.id = ANY(ARRAY(
          SELECT part.id FROM holder h JOIN account a ON a.id = h.account_id AND a.disabled_at IS NULL,
            LATERAL (
              SELECT n.id FROM delivery n WHERE n.account_id = h.account_id AND n.state = 'pending' AND n.held
              ORDER BY n.next_attempt_at, n.id LIMIT ${perAccount}::int FOR UPDATE SKIP LOCKED
            ) AS part))
        RETURNING d.id, d.account_id, d.attempts, d.next_attempt_at
      )
      SELECT id, account_id AS "accountId", attempts + 1 AS attempt, next_attempt_at AS "dueAt" FROM resumed
      ORDER BY next_attempt_at, id`;
  };
