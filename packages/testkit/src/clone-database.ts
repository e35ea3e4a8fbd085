import pg from 'pg';
import type { Sql } from './insert-account.js';
import { cloneStatement, inherited, POSTGRES_VARIABLE, worldName } from './test-servers.js';

/** An empty, migrated database for one test file. */
export type ClonedDatabase = { url: string; drop: () => Promise<void> };

/** Clones the template database of a server, by default the run's own, for tests of statements without processes. */
export const cloneDatabase = async (
  server = inherited(POSTGRES_VARIABLE),
  name = worldName(),
): Promise<ClonedDatabase> => {
  const urlOf = (database: string): string => {
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url.href;
  };
  const run = async (text: string): Promise<void> => void (await runSql(urlOf('postgres'), text));
  await run(cloneStatement(name));
  return { url: urlOf(name), drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
};

/** Runs a statement on a connection of its own. */
export const runSql = async <T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
};

/** Runs statements on a database. A pool reconnects when a test stops and restarts the server. */
export const openSql = (url: string): { sql: Sql; close: () => Promise<void> } => {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  return { sql: async (text, values = []) => (await pool.query(text, values)).rows, close: () => pool.end() };
};
