import type { CheckRequest } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { REQUEST_COLUMNS, type RequestRow, requestOfRow } from './request-row.js';

/** A job may come a little before its row says: clocks of two machines, and the queue's own rounding. */
const EARLY_MS = 100;

/**
 * Reads a request that is to be asked; `null` when there is nothing to ask now: it has ended, its answer is known, or it
 * is not due yet.
 */
export const beginAsk =
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
export const markAsking =
  (db: Queryable) =>
  async (id: string, attempts: number, since: Date): Promise<void> => {
    await db.$executeRaw`
      UPDATE request SET asking_since = ${since}::timestamptz
      WHERE id = ${id}::uuid AND state IN ('waiting', 'pending') AND answer IS NULL AND attempts = ${attempts}::int`;
  };
