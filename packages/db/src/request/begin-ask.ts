import type { CheckRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { REQUEST_COLUMNS, type RequestRow, requestOfRow } from './request-row.js';

/** A job may come a little before its row says: clocks of two machines, and the queue's own rounding. */
const EARLY_MS = 100;

/**
 * Reads a request and marks that its ask begins; `null` when there is nothing to ask now: it has ended, its answer is
 * known, or it is not due yet.
 */
export const beginAsk =
  (db: Queryable) =>
  async (id: string, now: Date): Promise<CheckRequest | null> => {
    const [row] = await db.$queryRaw<RequestRow[]>`
      UPDATE request r SET asking_since = ${now}::timestamptz FROM account a
      WHERE r.id = ${id}::uuid AND a.id = r.account_id AND r.state IN ('waiting', 'pending') AND r.answer IS NULL
        AND r.due_at <= ${new Date(now.getTime() + EARLY_MS)}::timestamptz
      RETURNING ${REQUEST_COLUMNS}`;
    return row ? requestOfRow(row) : null;
  };
