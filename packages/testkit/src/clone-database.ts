import pg from 'pg';
import { cloneStatement, POSTGRES_VARIABLE, worldName } from './test-servers.js';

/** An empty, migrated database for one test file. */
export type ClonedDatabase = { url: string; drop: () => Promise<void> };

/** Clones the run's template database, for tests of statements without processes. */
export const cloneDatabase = async (): Promise<ClonedDatabase> => {
  const server = process.env[POSTGRES_VARIABLE];
  if (!server) throw new Error(`${POSTGRES_VARIABLE} is not set: run tests by npm test`);
  const name = worldName();
  const run = async (sql: string): Promise<void> => {
    const url = new URL(server);
    url.pathname = '/postgres';
    const client = new pg.Client({ connectionString: url.href });
    await client.connect();
    try {
      await client.query(sql);
    } finally {
      await client.end();
    }
  };
  await run(cloneStatement(name));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`DROP DATABASE ${name} WITH (FORCE)`) };
};
