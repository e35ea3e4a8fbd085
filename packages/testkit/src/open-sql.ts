import pg from 'pg';
import type { Sql } from './insert-account.js';

/** Runs statements on a database. A pool reconnects when a test stops and restarts the server. */
export const openSql = (url: string): { sql: Sql; close: () => Promise<void> } => {
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  pool.on('error', () => undefined);
  return { sql: async (text, values = []) => (await pool.query(text, values)).rows, close: () => pool.end() };
};
