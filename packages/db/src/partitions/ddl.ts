import type pg from 'pg';
import { connectClient } from '../prepare-connection.js';
import type { Reader } from '../query.js';
import { statementsOn } from '../statements-on.js';

/** A connection of its own: these statements may take longer than a process waits for those of its callers. */
export type Ddl = {
  reader: Reader;
  run: (sql: string, values?: unknown[]) => Promise<pg.QueryResult>;
  /** A transaction that takes its locks within a moment or fails, so that nobody waits long behind it. */
  atOnce: <T>(work: () => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

/** Only one process changes partitions at a time. */
const LOCK = { of: 0x5107_0003, which: 1 };
const LOCK_TIMEOUT_MS = 300;

/** Connects. Session settings are not used, so that a pooler of transactions may be in between. */
export const connectDdl = async (url: string): Promise<Ddl> => {
  const client = await connectClient(url);
  const run: Ddl['run'] = (text, values) => client.query(values === undefined ? { text } : { text, values });
  return {
    reader: statementsOn(client),
    run,
    atOnce: async (work) => {
      await run(`BEGIN; SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
      try {
        await run('SELECT pg_advisory_xact_lock($1, $2)', [LOCK.of, LOCK.which]);
        const result = await work();
        await run('COMMIT');
        return result;
      } catch (error) {
        await run('ROLLBACK');
        throw error;
      }
    },
    close: () => client.end(),
  };
};

export const exists = async ({ run }: Ddl, select: string, values: unknown[] = []): Promise<boolean> =>
  (await run(`SELECT EXISTS (${select}) AS found`, values)).rows[0]?.found === true;
