import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { connectClient, TCP_KEEPALIVE } from './prepare-connection.js';

const POLL_MS = 200;
/** The lock lasts as long as its process, and no longer than a minute after its machine is gone. */
const WHILE_ALIVE = Object.entries({ idle_in_transaction_session_timeout: '0', ...TCP_KEEPALIVE })
  .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
  .join('; ');

/**
 * Two connections: `client` makes changes while `locker` has a lock, and `endChanges` ends it. It ends with the connection of
 * `locker`, since without the lock another process might make changes at the same time.
 */
export const connectWithLocker = async (url: string) => {
  const locker = await connectClient(url);
  const client = await connectClient(url).catch(async (error: unknown) => {
    await locker.end();
    throw error;
  });
  const endChanges = () => client.end().catch(() => undefined);
  locker.on('error', endChanges);
  const close = async () => void (await Promise.allSettled([client.end(), locker.end()]));
  return { locker, client, endChanges, close };
};

/**
 * Waits until nobody else has an advisory lock, and takes it in a transaction that `client` begins: a pooler in transaction mode
 * holds no lock of a session, but an open transaction keeps its connection and its locks. False when somebody still has it after
 * `waitMs`. The transaction has no snapshot, for which CREATE INDEX CONCURRENTLY would wait: a statement that waits for the lock
 * itself would have one, and Postgres keeps that of a transaction's last query until its next statement.
 */
export const takeLock = async (
  client: pg.Client,
  key: readonly number[],
  waitMs = Number.POSITIVE_INFINITY,
): Promise<boolean> => {
  await client.query('BEGIN; SET LOCAL statement_timeout = 0');
  for (const until = performance.now() + waitMs; ; await pause(POLL_MS)) {
    const { rows } = await client.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${key.join(', ')}) AS taken`,
    );
    const taken = rows[0]?.taken === true;
    if (!taken && performance.now() < until) continue;
    await client.query(WHILE_ALIVE);
    return taken;
  }
};
