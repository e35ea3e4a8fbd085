import pg from 'pg';
import type { DatabaseOptions } from './connect-database.js';
import { Prisma } from './generated/client.js';

/** Reads rows. Prisma's client is one, and so is {@link ConnectedReader}. */
export type Reader = {
  $queryRaw: <T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) => Promise<T>;
};

/** Connections for reading much. `snapshot` runs `work` in one transaction that sees one moment and changes nothing. */
export type ConnectedReader = {
  reader: Reader;
  snapshot: <T>(work: (reader: Reader) => Promise<T>) => Promise<T>;
  close: () => Promise<void>;
};

/** What of `pg` runs a statement: the pool, or one connection of it. */
type Statements = { query: (statement: { text: string; values: unknown[] }) => Promise<{ rows: unknown[] }> };

const readerOn = (statements: Statements): Reader => ({
  $queryRaw: async <T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<T> => {
    const { text, values: all } = 'text' in query ? query : Prisma.sql(query, ...values);
    return (await statements.query({ text, values: all })).rows as T;
  },
});

/**
 * Opens connections for reading much, without Prisma: what it returned for 10 000 checks survived in memory until a full
 * collection of garbage, 180 MB of it, and took twice the time. So did results under the client's own time-out; here the
 * server ends a statement that takes too long. Connects when it is needed.
 */
export const connectReader = (options: Omit<DatabaseOptions, 'keepOpen'>): ConnectedReader => {
  const pool = new pg.Pool({
    connectionString: options.url,
    options: '-c TimeZone=UTC',
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: options.connectTimeoutMs,
    statement_timeout: options.queryTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // An idle connection that breaks is replaced at the next query, which reports what is wrong.
  pool.on('error', () => undefined);
  return {
    reader: readerOn(pool),
    snapshot: async (work) => {
      const connection = await pool.connect();
      let broken: Error | undefined;
      try {
        await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        const result = await work(readerOn(connection));
        await connection.query('COMMIT');
        return result;
      } catch (error) {
        broken = error instanceof Error ? error : new Error(String(error));
        throw error;
      } finally {
        // One that failed may still be in its transaction; it is closed and not used again.
        connection.release(broken);
      }
    },
    close: () => pool.end(),
  };
};
