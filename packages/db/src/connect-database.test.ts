import { type ClonedDatabase, cloneDatabase, openSql } from '@vat/testkit';
import { connectDatabase } from './connect-database.js';

let cloned: ClonedDatabase;
beforeAll(async () => {
  cloned = await cloneDatabase();
});
afterAll(() => cloned?.drop());

test('a process that is busy while it starts opens all the connections that it keeps open', async () => {
  const connectTimeoutMs = 1_500;
  const database = connectDatabase({
    ...{ url: cloned.url, applicationName: 'busy', connectTimeoutMs, queryTimeoutMs: 5_000 },
    ...{ maxConnections: 5, keepOpen: 5 },
  });
  const { sql, close } = openSql(cloned.url);
  try {
    // Blocks the thread, without using the processor.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, connectTimeoutMs + 100);
    await database.warmed;
    expect(await sql("SELECT count(*)::int AS open FROM pg_stat_activity WHERE application_name = 'busy'")).toEqual([
      { open: 5 },
    ]);
  } finally {
    await database.close();
    await close();
  }
});
