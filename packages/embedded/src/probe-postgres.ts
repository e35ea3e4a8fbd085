import pg from 'pg';
import type { Access } from './remembered-access.js';

/** What a look at a Postgres found: it serves, it is there but not ready, nobody listens, it hangs, or it is not ours. */
export type PostgresState = 'serving' | 'starting' | 'absent' | 'hanging' | 'foreign';

const ABSENT = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);
// cannot_connect_now (starting, recovering, stopping) and too_many_connections: alive, and ours to wait for.
const STARTING = new Set(['57P03', '53300']);

/** Connects once, as the superuser, and runs `use` on the connection when it serves. Never rejects but for `use`. */
export const probePostgres = async (
  { port, password }: Access,
  use: (client: pg.Client) => Promise<unknown> = async () => undefined,
): Promise<PostgresState> => {
  // Every field is given, since pg would fill gaps from PG* variables.
  const client = new pg.Client({
    ...{ host: '127.0.0.1', port, user: 'postgres', password, database: 'postgres', ssl: false, options: '' },
    connectionTimeoutMillis: 1_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    await client.end().catch(() => undefined);
    const { code = '', message } = error as NodeJS.ErrnoException;
    if (ABSENT.has(code) || message.includes('terminated unexpectedly')) return 'absent';
    if (STARTING.has(code)) return 'starting';
    return message.includes('timeout') ? 'hanging' : 'foreign';
  }
  try {
    await use(client);
    return 'serving';
  } finally {
    await client.end().catch(() => undefined);
  }
};
