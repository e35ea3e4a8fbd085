import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from './connect-database.js';
import { Prisma } from './generated/client.js';
import { heartbeatOf, SILENCE, sendHeartbeats } from './heartbeats.js';
import { query } from './query.js';

/** The first of the two numbers of the advisory locks for maintenance; the second is the task. */
const TASK_LOCKS = 0x5107_0002;
/** Fixed numbers: a task that had another one in a later release could run twice while both releases run. */
const TASKS = { sweep: 1, expire: 2, audit: 3, months: 4, mail: 5 } as const;
/** A task that runs for longer loses its lock. */
const TRANSACTION_MS = 24 * 3_600_000;
const POLL_MS = 100;
/** How long the transaction waits for a connection of the pool. */
const CONNECT_MS = 5_000;

/**
 * Runs the work of a task unless another process runs that task; null when one still does after `waitMs`. The lock belongs to
 * a transaction that is otherwise idle: it ends with its process or connection, a loss of Redis does not release it, it works
 * through a transaction-pooling proxy, and it holds back no vacuum, since the transaction has written nothing and has no
 * snapshot. A process that stands still loses it after {@link SILENCE}; the work that it continues later must be harmless beside
 * that of another process.
 */
export const runAlone =
  (db: Database, silence = SILENCE) =>
  async <T>(task: keyof typeof TASKS, work: () => Promise<T>, waitMs = 0): Promise<{ done: T } | null> =>
    db.$transaction(
      async (tx) => {
        const until = performance.now() + waitMs;
        for (;;) {
          const [lock] = await query(tx, { taken: 'bool' })`
            SELECT pg_try_advisory_xact_lock(${TASK_LOCKS}::int, ${TASKS[task]}::int) AS taken`;
          if (lock?.taken) {
            const heartbeat = () => tx.$executeRaw`${Prisma.raw(heartbeatOf(silence))}`;
            await heartbeat();
            const stopHeartbeats = sendHeartbeats(heartbeat, silence.heartbeatMs);
            try {
              return { done: await work() };
            } finally {
              await stopHeartbeats();
            }
          }
          if (performance.now() >= until) return null;
          await pause(POLL_MS);
        }
      },
      { timeout: TRANSACTION_MS, maxWait: CONNECT_MS },
    );
