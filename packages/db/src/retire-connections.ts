import type pg from 'pg';

/** What a connection has prepared occupies its backend until it ends, and each month the statements have another text. */
const LONGEST_USE_MS = 24 * 3_600_000;
/** One connection at a time, so that the calls of a burst do not wait for several new ones. */
const REPLACED_EVERY_MS = 60_000;

/**
 * Closes connections of the pool when they are released, so that they are not used again:
 *
 * - Connections within a transaction. Prisma releases such a connection when neither a statement of the transaction nor its
 *   ROLLBACK was answered in time. The statements of the next user would be written in that transaction, and lost with it.
 * - Connections that have been open for a day.
 *
 * `now`: a monotonic clock in milliseconds.
 */
export const retireConnections = (pool: pg.Pool, now: () => number): void => {
  const openedAt = new WeakMap<pg.PoolClient, number>();
  let replacedAt = Number.NEGATIVE_INFINITY;
  const isDue = (client: pg.PoolClient): boolean => {
    const at = now();
    if (at - (openedAt.get(client) ?? at) < LONGEST_USE_MS || at - replacedAt < REPLACED_EVERY_MS) return false;
    replacedAt = at;
    return true;
  };
  pool.on('connect', (client) => {
    openedAt.set(client, now());
  });
  pool.on('release', (_error, client) => {
    if (client.getTransactionStatus() !== 'I' || isDue(client)) void (client as pg.PoolClient & pg.Client).end();
  });
};
