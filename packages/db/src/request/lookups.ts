import type { CheckRequest, Exchange, LookupDecision, RequestState } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { insertExchanges } from './exchanges.js';
import { REQUEST_COLUMNS, type RequestRow, requestOfRow } from './request-row.js';

/** A job may come a little before its row says: clocks of two machines, and the queue's own rounding. */
const EARLY_MS = 100;

/**
 * Reads a request that is to be asked; `null` when there is nothing to ask now: it has ended, its answer is known, or it
 * is not due yet.
 */
export const beginLookup =
  (db: Queryable) =>
  async (id: string, now: Date): Promise<CheckRequest | null> => {
    const [row] = await db.$queryRaw<RequestRow[]>`
      SELECT ${REQUEST_COLUMNS} FROM request r JOIN account a ON a.id = r.account_id
      WHERE r.id = ${id}::uuid AND r.state IN ('waiting', 'pending') AND r.answer IS NULL
        AND r.due_at <= ${new Date(now.getTime() + EARLY_MS)}::timestamptz`;
    return row ? requestOfRow(row) : null;
  };

/**
 * Notes that an ask is open, for the caller who is answered 202 meanwhile and is told "not answered yet" instead of "no
 * slot". `attempts`: as it was read; an ask that has ended has raised it, and is not noted as open.
 */
export const markLookupStarted =
  (db: Queryable) =>
  async (id: string, attempts: number, since: Date): Promise<void> => {
    await db.$executeRaw`
      UPDATE request SET asking_since = ${since}::timestamptz
      WHERE id = ${id}::uuid AND state IN ('waiting', 'pending') AND answer IS NULL AND attempts = ${attempts}::int`;
  };

export type LookupToStore = {
  requestId: string;
  /** `attempts` as it was read: a second run of the same job does not overwrite what the first one stored. */
  expectedAttempts: number;
  decision: LookupDecision;
  exchange: Exchange | null;
  /** Whether the request leaves Redis until it is due: it gets no job, and feeding brings it back. */
  suspend?: boolean;
  /** When the next step is due: the next ask, or now when the answer is to be recorded. */
  dueAt: Date;
};

/**
 * Keeps the exchange (always: it happened) and, if the request is still where it was read, what follows from it.
 * Returns the state and due time afterwards, `null` when the request had moved on.
 */
export const storeLookup =
  (db: Queryable) =>
  async ({
    requestId,
    expectedAttempts,
    decision,
    exchange,
    suspend = false,
    dueAt,
  }: LookupToStore): Promise<{ state: RequestState; dueAt: Date } | null> => {
    const answer = decision.next.kind === 'settle' ? JSON.stringify(decision.next.answer) : null;
    const [row] = await db.$queryRaw<{ state: RequestState; due_at: Date }[]>`
      WITH kept AS (${insertExchanges(exchange === null ? [] : [exchange], Prisma.sql`SELECT ${requestId}::uuid`)})
      UPDATE request SET entries = ${JSON.stringify(decision.entries)}::jsonb, attempts = ${decision.attempts}::int,
        window_retries = ${decision.windowRetries}::int, background_retries = ${decision.backgroundRetries}::int,
        last_error = ${decision.lastError},
        unconfirmed = ${decision.unconfirmed === null ? null : JSON.stringify(decision.unconfirmed)}::jsonb,
        unconfirmed_at = ${decision.unconfirmedAt}::timestamptz, requester_dropped = ${decision.numberAlone},
        answer = ${answer}::jsonb, asking_since = NULL, fed = fed AND NOT ${suspend}::bool,
        due_at = LEAST(${dueAt}::timestamptz, COALESCE(give_up_at, 'infinity'::timestamptz))
      WHERE id = ${requestId}::uuid AND state IN ('waiting', 'pending') AND answer IS NULL
        AND attempts = ${expectedAttempts}::int
      RETURNING state, due_at`;
    return row ? { state: row.state, dueAt: row.due_at } : null;
  };
