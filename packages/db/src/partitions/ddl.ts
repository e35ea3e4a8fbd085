import type pg from 'pg';
import { heartbeatOf, SILENCE, sendHeartbeats } from '../heartbeats.js';
import type { Reader } from '../query.js';
import { statementsOn } from '../statements-on.js';
import { connectWithLocker, takeLock } from '../take-lock.js';

/** A connection of its own: these statements may take longer than a process waits for those of its callers. */
export type Ddl = {
  reader: Reader;
  run: (sql: string, values?: unknown[]) => Promise<pg.QueryResult>;
  /**
   * A transaction that takes its locks within a moment or fails, so that nobody waits long behind it. Postgres ends it when this
   * process stands still, before another one may change partitions.
   */
  atOnce: <T>(work: () => Promise<T>) => Promise<T>;
  /** The same without a limit of time, also where the role has one: for what keeps nobody waiting. */
  atLength: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

/**
 * Only one process changes partitions at a time, from its first look at them to its last change. Both `months` and `expire` do,
 * and at the beginning of a month they run at the same moment.
 */
const LOCK = [0x5107_0003, 1];
/** `turnMs`: how long a process waits for another one; for longer than one that stands still has the lock. */
const TURNS = { ...SILENCE, turnMs: 60_000 };
const LOCK_TIMEOUT_MS = 300;

/**
 * Connects, when no other process changes partitions. Session settings are not used, so that a pooler of transactions may be in
 * between. A process that stands still loses the lock after {@link SILENCE}, and changes nothing when it continues.
 */
export const connectDdl = async (url: string, turns = TURNS): Promise<Ddl> => {
  const { locker, client, endChanges, close } = await connectWithLocker(url);
  try {
    if (!(await takeLock(locker, LOCK, turns.turnMs))) throw new Error('another process is changing partitions');
    const statement = { text: heartbeatOf(turns), query_timeout: turns.endMs / 2 };
    const heartbeat = () => locker.query(statement);
    await heartbeat();
    locker.once(
      'end',
      sendHeartbeats(() => heartbeat().catch(endChanges), turns.heartbeatMs),
    );
    return { ...ddlOn(client, turns.heartbeatMs), close };
  } catch (error) {
    await close();
    throw error;
  }
};

const ddlOn = (client: pg.Client, idleMs: number): Omit<Ddl, 'close'> => {
  const run: Ddl['run'] = (text, values) => client.query(values === undefined ? { text } : { text, values });
  const transactionWith =
    (limit: string): Ddl['atOnce'] =>
    async (work) => {
      await run(`BEGIN; SET LOCAL ${limit}; SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`);
      try {
        const result = await work();
        await run('COMMIT');
        return result;
      } catch (error) {
        // A connection that has ended has nothing to roll back.
        await run('ROLLBACK').catch(() => undefined);
        throw error;
      }
    };
  return {
    reader: statementsOn(client),
    run,
    atOnce: transactionWith(`lock_timeout = ${LOCK_TIMEOUT_MS}`),
    atLength: transactionWith('statement_timeout = 0'),
  };
};

export const exists = async ({ run }: Ddl, select: string, values: unknown[] = []): Promise<boolean> =>
  (await run(`SELECT EXISTS (${select}) AS found`, values)).rows[0]?.found === true;
