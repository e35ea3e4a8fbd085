import { type ClonedDatabase, cloneDatabase, openSql, openTcpProxy } from '@vat/testkit';
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

test('what follows a transaction whose end got no answer is not written within it', async () => {
  const proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const { db, close: closeDatabase } = connectDatabase({
    ...{ url: proxy.through(cloned.url), applicationName: 'stalled', connectTimeoutMs: 5_000, queryTimeoutMs: 500 },
    maxConnections: 1,
  });
  const { sql, close } = openSql(cloned.url);
  try {
    await sql('CREATE TABLE written (n int)');
    const unfinished = db.$transaction(async (tx) => {
      await tx.$executeRaw`INSERT INTO written VALUES (1)`;
      proxy.freeze();
      await tx.$executeRaw`INSERT INTO written VALUES (2)`;
    });
    await expect(unfinished).rejects.toThrow();
    // What was sent in the meantime arrives at Postgres, and its answers arrive here.
    proxy.thaw();
    await db.$executeRaw`INSERT INTO written VALUES (3)`;
    expect(await sql('SELECT n FROM written')).toEqual([{ n: 3 }]);
  } finally {
    await closeDatabase();
    await Promise.all([close(), proxy.close()]);
  }
});
