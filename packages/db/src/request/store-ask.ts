import type { AskDecision, Exchange, RequestState } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { insertExchanges } from '../exchange-sql.js';
import { Prisma } from '../generated/client.js';

export type AskToStore = {
  requestId: string;
  /** `attempts` as it was read: a second run of the same job does not overwrite what the first one stored. */
  expectedAttempts: number;
  decision: AskDecision;
  exchange: Exchange | null;
  /** Whether the request leaves Redis until it is due: it gets no job, and feeding brings it back. */
  park?: boolean;
  /** When the next step is due: the next ask, or now when the answer is to be recorded. */
  dueAt: Date;
};

/**
 * Keeps the exchange (always: it happened) and, if the request is still where it was read, what follows from it.
 * Returns the state and due time afterwards, `null` when the request had moved on.
 */
export const storeAsk =
  (db: Queryable) =>
  async ({
    requestId,
    expectedAttempts,
    decision,
    exchange,
    park = false,
    dueAt,
  }: AskToStore): Promise<{ state: RequestState; dueAt: Date } | null> => {
    const answer = decision.next.kind === 'settle' ? JSON.stringify(decision.next.answer) : null;
    const [row] = await db.$queryRaw<{ state: RequestState; due_at: Date }[]>`
      WITH kept AS (${insertExchanges(exchange === null ? [] : [exchange], Prisma.sql`SELECT ${requestId}::uuid`)})
      UPDATE request SET entries = ${JSON.stringify(decision.entries)}::jsonb, attempts = ${decision.attempts}::int,
        window_retries = ${decision.windowRetries}::int, background_retries = ${decision.backgroundRetries}::int,
        last_error = ${decision.lastError},
        unconfirmed = ${decision.unconfirmed === null ? null : JSON.stringify(decision.unconfirmed)}::jsonb,
        unconfirmed_at = ${decision.unconfirmedAt}::timestamptz, requester_dropped = ${decision.numberAlone},
        answer = ${answer}::jsonb, asking_since = NULL, fed = fed AND NOT ${park}::bool,
        due_at = LEAST(${dueAt}::timestamptz, COALESCE(give_up_at, 'infinity'::timestamptz))
      WHERE id = ${requestId}::uuid AND state IN ('waiting', 'pending') AND answer IS NULL
        AND attempts = ${expectedAttempts}::int
      RETURNING state, due_at`;
    return row ? { state: row.state, dueAt: row.due_at } : null;
  };
