import type pg from 'pg';
import { connectClient } from '../prepare-connection.js';
import type { Reader } from '../query.js';
import { statementsOn } from '../statements-on.js';
import { takeLock } from '../take-lock.js';

/** A connection of its own: these statements may take longer than a process waits for those of its callers. */
export type Ddl = {
  reader: Reader;
  run: (sql: string, values?: unknown[]) => Promise<pg.QueryResult>;
  /** A transaction that takes its locks within a moment or fails, so that nobody waits long behind it. */
  atOnce: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

/**
 * Only one process changes partitions at a time, from its first look at them to its last change. Both `months` and `expire` do,
 * and at the beginning of a month they run at the same moment.
 */
const LOCK = [0x5107_0003, 1];
/** How long a process waits for another one. */
const TURN_MS = 60_000;
const LOCK_TIMEOUT_MS = 300;

const takeTurn = async (locker: pg.Client): Promise<void> => {
  await locker.query('BEGIN; SET LOCAL statement_timeout = 0');
  if (!(await takeLock(locker, LOCK, TURN_MS))) throw new Error('another process is changing partitions');
};

/**
 * Connects, when no other process changes partitions. Session settings are not used, so that a pooler of transactions may be in
 * between.
 */
export const connectDdl = async (url: string): Promise<Ddl> => {
  const locker = await connectClient(url);
  try {
    await takeTurn(locker);
    const client = await connectClient(url);
    // Without the lock another process might change partitions at the same time.
    locker.on('error', () => void client.end().catch(() => undefined));
    return ddlOn(client, locker);
  } catch (error) {
    await locker.end();
    throw error;
  }
};

const ddlOn = (client: pg.Client, locker: pg.Client): Ddl => {
  const run: Ddl['run'] = (text, values) => client.query(values === undefined ? { text } : { text, values });
  return {
    reader: statementsOn(client),
    run,
    atOnce: async (work) => {
      await run(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      try {
        const result = await work();
        await run('COMMIT');
        return result;
      } catch (error) {
        await run('ROLLBACK');
        throw error;
      }
    },
    close: async () => {
      await Promise.allSettled([client.end(), locker.end()]);
    },
  };
};

export const exists = async ({ run }: Ddl, select: string, values: unknown[] = []): Promise<boolean> =>
  (await run(`SELECT EXISTS (${select}) AS found`, values)).rows[0]?.found === true;
