import pg from 'pg';
import { unreachable } from './unreachable.js';

const TIMEOUT_MS = 5_000;

/** Connects once to a Postgres that is not ours. Throws an Error that names the setting, the place and the reason. */
export const reachPostgres = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT_MS });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } catch (error) {
    throw unreachable('DATABASE_URL', url, error);
  } finally {
    await client.end().catch(() => undefined);
  }
};
