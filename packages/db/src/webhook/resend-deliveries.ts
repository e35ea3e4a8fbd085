import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type DueDelivery,
  ENDED_STATES,
  type NewResend,
  newUuidAt,
  RESEND_INTERVAL_MS,
  type ResendLimits,
  type ResendResult,
} from '@vat/domain';
import type { Database, Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { bindAnswer, findIdempotencyKey } from '../idempotency-keys.js';
import { isOneOf, query } from '../query.js';
import { idBounds } from '../read-newest.js';
import { transact } from '../transaction.js';
import { madeAfter, monthsOf } from '../uuid-bounds.js';
import { newestMatching } from './delivery-filter.js';
import { countPending } from './events.js';

/** Events that one statement resends, so that it is short. */
const CHUNK = 1_000;
/** Enough for ten chunks on a busy machine. The time-out of the pool applies to each statement. */
const TRANSACTION_MS = 30_000;
const POLL_MS = 50;

/**
 * Waits until no other bulk resend of the account is being written; false when one still is after `waitMs`. It polls, because a
 * statement that waited for the lock itself could time out, and ten thousand rows may take as long as that.
 */
const takeTurn = async (tx: Queryable, accountId: string, waitMs: number): Promise<boolean> => {
  const lock = createHash('sha256').update(`resend ${accountId}`).digest().readBigInt64BE();
  for (const until = performance.now() + waitMs; ; await pause(POLL_MS)) {
    const [row] = await query(tx, { taken: 'bool' })`SELECT pg_try_advisory_xact_lock(${lock}::bigint) AS taken`;
    if (row?.taken) return true;
    if (performance.now() >= until) return false;
  }
};

/**
 * Waits until no bulk resend of the account is being written. Throws when one still is after all the time that it may take. Without
 * an endpoint no other one begins to write.
 */
export const awaitResends = (db: Database, accountId: string): Promise<void> =>
  db.$transaction(
    async (tx) => {
      if (!(await takeTurn(tx, accountId, TRANSACTION_MS))) throw new Error('a bulk resend is still being written');
    },
    { timeout: TRANSACTION_MS + 5_000 },
  );

const pendingOf = async (tx: Queryable, accountId: string): Promise<number> => {
  const [pending] = await query(tx, { n: 'int4' })`WITH ${countPending(accountId)} SELECT n FROM pending`;
  return pending?.n ?? 0;
};

/** A query of the `event_id` of at most `most` matching deliveries. */
const matching = ({ reader, filter }: NewResend, most: number): Prisma.Sql => {
  const page = { beforeId: null, period: filter };
  const { from, below } = idBounds(page);
  // In a period of up to two months the statement opens these months alone.
  const months = from === null || below === undefined ? null : monthsOf([from, below]);
  const range = months === null ? Prisma.sql`true` : Prisma.sql`id >= ${months.from}::uuid AND id < ${months.to}::uuid`;
  const states = filter.status === undefined ? ENDED_STATES : [filter.status];
  const newest = newestMatching(Prisma.sql`event_id`, { reader, states, event: filter.event, page, range }, most);
  return Prisma.sql`SELECT event_id FROM (${newest}) AS newest LIMIT ${Prisma.raw(String(most))}`;
};

/** The number of matching deliveries, and their events in order; both up to `most`. */
const findMatching = async (
  tx: Queryable,
  resend: NewResend,
  most: number,
): Promise<{ matched: number; events: string[] }> => {
  const [found] = await query(tx, { matched: 'int4', events: 'uuid[]' })`
    SELECT count(*)::int AS matched, COALESCE(array_agg(DISTINCT event_id), '{}') AS events
    FROM (${matching(resend, most)}) AS found`;
  return found ?? { matched: 0, events: [] };
};

const countMatching = async (tx: Queryable, resend: NewResend, most: number): Promise<number> => {
  const [found] = await query(tx, { matched: 'int4' })`
    SELECT count(*)::int AS matched FROM (${matching(resend, most)}) AS found`;
  return found?.matched ?? 0;
};

/**
 * Inserts a delivery of each of the events that has none pending and, with `onlyFailed`, whose last delivery failed. An event
 * that is no longer stored is left out. `queued`: the deliveries before these, after which they are due.
 */
const insertChunk = async (
  tx: Queryable,
  { reader: { accountId }, filter, now }: NewResend,
  { events, queued }: { events: string[]; queued: number },
): Promise<DueDelivery[]> => {
  const onlyFailed = filter.status === 'failed';
  const ids = events.map(() => newUuidAt(now));
  const inserted = await query(tx, { id: 'uuid', dueAt: 'timestamptz!' })`
    WITH wanted AS (
      SELECT id, event_id, n FROM unnest(${ids}::uuid[], ${events}::uuid[]) WITH ORDINALITY AS w(id, event_id, n)
    ), chosen AS (
      SELECT w.id, e.id AS event_id, e.type, e.test, row_number() OVER (ORDER BY w.n) AS n
      FROM wanted w JOIN event e ON e.id = w.event_id AND ${isOneOf(Prisma.sql`e.id`, events)},
        LATERAL (
          SELECT bool_or(d.state = 'pending') AS pending, (array_agg(d.state ORDER BY d.id DESC))[1] AS last
          FROM delivery d WHERE d.event_id = w.event_id AND d.id >= ${madeAfter(events[0] ?? '')}::uuid
        ) AS made
      WHERE e.account_id = ${accountId}::uuid AND NOT made.pending AND (made.last = 'failed' OR NOT ${onlyFailed}::boolean)
    )
    INSERT INTO delivery (id, account_id, event_id, event_type, generation, state, test, on_demand, created_at, next_attempt_at)
    SELECT c.id, w.account_id, c.event_id, c.type, w.generation, 'pending', c.test, true, ${now}::timestamptz,
      ${now}::timestamptz + (${queued}::int + c.n - 1) * ${RESEND_INTERVAL_MS}::int * interval '1 millisecond'
    FROM chosen c, webhook w WHERE w.account_id = ${accountId}::uuid
    RETURNING id, next_attempt_at AS "dueAt"`;
  return inserted.map((delivery) => ({ ...delivery, accountId, attempt: 1 }));
};

/**
 * Resends the events of all deliveries that match, in one transaction with the Idempotency-Key and its answer. Bulk resends of
 * one account are written one after the other, so that concurrent ones do not resend an event twice. The deliveries count as
 * requested by the account itself, and are due one after the other.
 */
export const resendDeliveries =
  (db: Database, limits: ResendLimits) =>
  (resend: NewResend): Promise<ResendResult> =>
    transact<ResendResult>(
      db,
      async (tx, refuse) => {
        const { id, reader, now, idempotency, answerOf } = resend;
        const { accountId } = reader;
        if (!(await takeTurn(tx, accountId, limits.waitMs)))
          return { kind: 'busy', pending: await pendingOf(tx, accountId) };
        const bound =
          idempotency && (await findIdempotencyKey(tx)(accountId, idempotency.key, idempotency.expiredBefore));
        if (bound) return { kind: 'key_taken' };
        const [webhook] = await query(tx, { exists: 'bool' })`
          SELECT EXISTS (SELECT 1 FROM webhook WHERE account_id = ${accountId}::uuid) AS exists`;
        if (!webhook?.exists) return { kind: 'no_webhook' };

        const { matched, events } = await findMatching(tx, resend, limits.matched + 1);
        if (matched > limits.matched)
          return { kind: 'too_large', matched: await countMatching(tx, resend, limits.counted + 1) };

        const pending = await pendingOf(tx, accountId);
        if (pending >= limits.pending) return { kind: 'too_many', pending };
        const deliveries: DueDelivery[] = [];
        for (let first = 0; first < events.length; first += CHUNK) {
          const chunk = { events: events.slice(first, first + CHUNK), queued: deliveries.length };
          deliveries.push(...(await insertChunk(tx, resend, chunk)));
        }
        const resent = { id, matched, queued: deliveries.length };
        const answer = answerOf(resent);
        if (idempotency !== null && !(await bindAnswer(tx)(accountId, { ...idempotency, answer }, now)))
          refuse({ kind: 'key_taken' });
        return { kind: 'resent', resent, answer, deliveries };
      },
      { timeout: TRANSACTION_MS },
    );
