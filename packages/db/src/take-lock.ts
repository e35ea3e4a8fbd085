import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';

const POLL_MS = 200;

/**
 * Waits until nobody else has an advisory lock, and takes it in the open transaction of `client`: a pooler in transaction mode
 * holds no lock of a session, but an open transaction keeps its connection and its locks. False when somebody still has it after
 * `waitMs`. The transaction has no snapshot, for which CREATE INDEX CONCURRENTLY would wait: a statement that waits for the lock
 * itself would have one, and Postgres keeps that of a transaction's last query until its next statement.
 */
export const takeLock = async (
  client: pg.Client,
  key: readonly number[],
  waitMs = Number.POSITIVE_INFINITY,
): Promise<boolean> => {
  for (const until = performance.now() + waitMs; ; await pause(POLL_MS)) {
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${key.join(', ')}) AS taken`,
    );
    const taken = rows[0]?.taken === true;
    if (!taken && performance.now() < until) continue;
    await client.query('SET LOCAL idle_in_transaction_session_timeout = 0');
    return taken;
  }
};
