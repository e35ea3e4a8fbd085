import { type ClonedDatabase, cloneDatabase } from '@vat/testkit';
import { type ConnectedDatabase, connectDatabase, type Database } from './connect-database.js';

/** A database for one test file, created before its tests and dropped after them. `db` is available while they run. */
export const testDatabase = (maxConnections: number, timeoutMs = 5_000): { readonly db: Database } => {
  let cloned: ClonedDatabase | undefined;
  let connected: ConnectedDatabase | undefined;
  beforeAll(async () => {
    cloned = await cloneDatabase();
    connected = connectDatabase({
      url: cloned.url,
      maxConnections,
      queryTimeoutMs: timeoutMs,
      connectTimeoutMs: timeoutMs,
      applicationName: 'vat-test',
    });
  });
  afterAll(async () => {
    await connected?.close();
    await cloned?.drop();
  });
  return {
    get db() {
      if (!connected) throw new Error('the database is available only while tests run');
      return connected.db;
    },
  };
};
