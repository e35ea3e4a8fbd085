import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A connection of `pg`; its types omit the number that the server sent at the start. */
type Connected = pg.ClientBase & { processID?: number | null };

/** The parameters of a session on a direct connection, such as a time-out. */
type SessionSettings = Readonly<Record<string, string>>;

/**
 * Postgres sends TCP keepalives to a client that is silent for half a minute, and closes after three without an answer. Without
 * this the connections of a machine that is gone count for two hours, by the defaults of Linux, and those of the processes that
 * replace it exceed `max_connections`.
 */
export const TCP_KEEPALIVE: SessionSettings = {
  tcp_keepalives_idle: '30',
  tcp_keepalives_interval: '10',
  tcp_keepalives_count: '3',
};

/** Connects without a pool. A connection that breaks between two statements fails the next one. */
export const connectClient = async (url: string, applicationName?: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: applicationName,
    // A statement may take long here, so nothing else shows that the network forgot the connection.
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  client.on('error', () => undefined);
  await client.connect();
  return client;
};

/**
 * Prepares a new connection, in one round trip: its time zone is UTC and, if it is direct, it ends soon after its machine is gone,
 * and has the settings of `session`. Returns whether it is direct. A server sends the process id of its backend when a connection
 * starts; a pooler such as PgBouncer cannot and sends a number of its own.
 *
 * Nothing of this is a start-up parameter, since PgBouncer refuses connections with parameters that it does not know. It
 * carries the time zone over when it changes the backend of a connection. Every other setting would remain on a backend that
 * serves other clients next.
 *
 * A connection that breaks from now on fails its next statement. Without a listener its error would end the process: a pool
 * listens only while a connection is idle or runs a statement of the pool.
 */
export const prepareConnection = async (client: pg.ClientBase, session: SessionSettings = {}): Promise<boolean> => {
  client.on('error', () => undefined);
  const { rows } = await client.query<{ direct: boolean }>(
    `SELECT own.direct, set_config('TimeZone', 'UTC', false),
       (SELECT count(set_config(key, value, false)) FROM jsonb_each_text($2::jsonb) WHERE own.direct)
     FROM (SELECT pg_backend_pid() = $1::int AS direct) AS own`,
    [(client as Connected).processID ?? 0, JSON.stringify({ ...TCP_KEEPALIVE, ...session })],
  );
  return rows[0]?.direct === true;
};

/**
 * Whether named statements work on a connection to a pooler. PgBouncer from 1.21 with `max_prepared_statements` gives them
 * names of its own, which are the same on every backend. Other poolers pass the name to the backend, where the next client
 * finds the name taken or a client that moved to another backend does not find its statement.
 */
export const translatesNames = async (client: pg.ClientBase): Promise<boolean> => {
  const name = `vat_probe_${randomUUID()}`;
  await client.query('BEGIN READ ONLY');
  const { rows } = await client.query<{ untranslated: boolean }>({
    name,
    text: 'SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE name = $1) AS untranslated',
    values: [name],
  });
  const untranslated = rows[0]?.untranslated !== false;
  if (untranslated) await client.query(`DEALLOCATE ${client.escapeIdentifier(name)}`);
  await client.query('COMMIT');
  return !untranslated;
};
