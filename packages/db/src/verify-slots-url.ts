import pg from 'pg';
import { prepareConnection } from './prepare-connection.js';

/** What a connection for slots leads to. `unknown`: Postgres did not answer. */
type SlotsAddress = 'direct' | 'pooled' | 'other_database' | 'unknown';

type Reached = { direct: boolean; database: string };

/** Connects once. `database` is the same for all connections to one database of one server. */
const reach = async (url: string): Promise<Reached> => {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 2_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const direct = await prepareConnection(client);
    const { rows } = await client.query<{ database: string }>(
      'SELECT concat_ws($1, current_database(), pg_postmaster_start_time()) AS database',
      [' since '],
    );
    return { direct, database: rows[0]?.database ?? '' };
  } finally {
    await client.end().catch(() => undefined);
  }
};

/**
 * Connects to `slotsUrl` and `databaseUrl` once, to find out before a worker starts whether slots can be held over the first:
 * it must be a direct connection, and lead to the database of the second, so that all workers use the same locks.
 */
export const verifySlotsUrl = async (slotsUrl: string, databaseUrl: string): Promise<SlotsAddress> => {
  const reached = reach(slotsUrl);
  const [slots, database] = await Promise.allSettled([
    reached,
    databaseUrl === slotsUrl ? reached : reach(databaseUrl),
  ]);
  if (slots.status === 'rejected') return 'unknown';
  if (!slots.value.direct) return 'pooled';
  return database.status === 'fulfilled' && database.value.database !== slots.value.database
    ? 'other_database'
    : 'direct';
};
