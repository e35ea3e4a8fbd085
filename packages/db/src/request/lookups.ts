import type { CheckRequest, RequestState, StoreLookup } from '@vat/domain';
import { coalesce } from '../coalesce.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { isOneOf, query, typed } from '../query.js';
import { insertExchanges } from './exchanges.js';
import { REQUEST, REQUEST_LIST } from './request-row.js';

/** A job may run slightly before its row is due, because clocks differ and the queue rounds. */
const DUE_TOLERANCE_MS = 100;

/** How many statements read requests at once; further calls share the next one. */
const READ_CONCURRENCY = 1;

/** Reads a request that is due for a lookup; `null` when it has ended, its answer is known, or it is not due yet. */
export const beginLookup = (db: Queryable): ((id: string, now: Date) => Promise<CheckRequest | null>) => {
  const readDue = async (wanted: { id: string; now: number }[]): Promise<(CheckRequest | null)[]> => {
    const ids = wanted.map(({ id }) => id);
    const latest = new Date(Math.max(...wanted.map(({ now }) => now)) + DUE_TOLERANCE_MS);
    const rows = await query(db, REQUEST)`
      SELECT ${REQUEST_LIST} FROM request r JOIN account a ON a.id = r.account_id
      WHERE ${isOneOf(Prisma.sql`r.id`, ids)} AND r.state IN ('waiting', 'pending') AND r.answer IS NULL
        AND r.due_at <= ${latest}::timestamptz`;
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id) ?? null);
  };
  const read = coalesce(readDue, { concurrency: READ_CONCURRENCY });
  return (id, now) => read({ id, now: now.getTime() });
};

/**
 * Records that a lookup is in flight, so that a 202 response in the meantime says "not answered yet" instead of "no slot".
 * `attempts`: the value that was read; the end of a lookup increments it, and an ended lookup is not recorded as in flight.
 */
export const markLookupStarted =
  (db: Queryable) =>
  async (id: string, attempts: number, since: Date): Promise<void> => {
    await db.$executeRaw`
      UPDATE request SET asking_since = ${since}::timestamptz
      WHERE ${isOneOf(Prisma.sql`id`, [id])} AND state IN ('waiting', 'pending') AND answer IS NULL AND attempts = ${attempts}::int`;
  };

/**
 * Stores the exchange in any case and, if the request has not changed since it was read, the decision. Returns the new state
 * and due time; `null` when the request had changed.
 */
export const storeLookup =
  (db: Queryable): StoreLookup =>
  async ({ requestId, expectedAttempts, decision, exchange, suspend, dueAt }) => {
    const answer = decision.next.kind === 'settle' ? JSON.stringify(decision.next.answer) : null;
    const [row] = await query(db, { state: typed<RequestState>('text'), dueAt: 'timestamptz' })`
      WITH stored AS (${insertExchanges(exchange === null ? [] : [exchange], Prisma.sql`SELECT ${requestId}::uuid`)})
      UPDATE request SET entries = ${JSON.stringify(decision.entries)}::jsonb, attempts = ${decision.attempts}::int,
        window_retries = ${decision.windowRetries}::int, background_retries = ${decision.backgroundRetries}::int,
        last_error = ${decision.lastError},
        unconfirmed = ${decision.unconfirmed === null ? null : JSON.stringify(decision.unconfirmed)}::jsonb,
        unconfirmed_at = ${decision.unconfirmedAt}::timestamptz, requester_dropped = ${decision.numberAlone},
        answer = ${answer}::jsonb, asking_since = NULL, fed = fed AND NOT ${suspend}::bool,
        give_up_at = COALESCE(${decision.giveUpAt}::timestamptz, give_up_at),
        due_at = LEAST(${dueAt}::timestamptz, COALESCE(${decision.giveUpAt}::timestamptz, give_up_at, 'infinity'::timestamptz))
      WHERE ${isOneOf(Prisma.sql`id`, [requestId])} AND state IN ('waiting', 'pending') AND answer IS NULL
        AND attempts = ${expectedAttempts}::int
      RETURNING state, due_at AS "dueAt"`;
    return row ?? null;
  };
