import { type ClonedDatabase, cloneDatabase } from '@vat/testkit';
import { type ConnectedDatabase, connectDatabase, type Database } from './connect-database.js';
import { query } from './query.js';

/** Connects to a database, as a process does. */
export const connectTo = (url: string, maxConnections: number, timeoutMs = 5_000): ConnectedDatabase =>
  connectDatabase({
    ...{ url, maxConnections, applicationName: 'vat-test' },
    ...{ queryTimeoutMs: timeoutMs, connectTimeoutMs: timeoutMs },
  });

/** How many sessions of a database wait for a lock. */
export const countWaiting = async (db: Database): Promise<number> => {
  const [row] = await query(db, { n: 'int4' })`
    SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
  return row?.n ?? 0;
};

/** A database for one test file, created before its tests and dropped after them. It is available while they run. */
export const testDatabase = (
  maxConnections: number,
  timeoutMs = 5_000,
): { readonly db: Database; readonly url: string } => {
  let cloned: ClonedDatabase | undefined;
  let connected: ConnectedDatabase | undefined;
  beforeAll(async () => {
    cloned = await cloneDatabase();
    connected = connectTo(cloned.url, maxConnections, timeoutMs);
  });
  afterAll(async () => {
    await connected?.close();
    await cloned?.drop();
  });
  const available = <T>(part: T | undefined): T => {
    if (part === undefined) throw new Error('the database is available only while tests run');
    return part;
  };
  return {
    get db() {
      return available(connected?.db);
    },
    get url() {
      return available(cloned?.url);
    },
  };
};
