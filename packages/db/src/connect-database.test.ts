import { type ClonedDatabase, cloneDatabase, openSql, openTcpProxy, until } from '@vat/testkit';
import { connectDatabase } from './connect-database.js';
import { connectReader } from './connect-reader.js';
import { connectClient } from './prepare-connection.js';
import { query } from './query.js';
import { statementsOn } from './statements-on.js';
import { takeLock } from './take-lock.js';

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

test('Postgres ends the transaction of a process that stands still, and with it its locks', async () => {
  const proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const options = { applicationName: 'still', connectTimeoutMs: 5_000, queryTimeoutMs: 5_000, maxConnections: 1 };
  const stopped = connectDatabase({ ...options, url: proxy.through(cloned.url), idleTransactionMs: 1_000 });
  const other = connectDatabase({ ...options, url: cloned.url });
  try {
    await other.db.$executeRaw`CREATE TABLE counted (n int)`;
    await other.db.$executeRaw`INSERT INTO counted VALUES (1)`;
    let go = (): void => undefined;
    let isOpen = false;
    const open = stopped.db.$transaction(async (tx) => {
      await tx.$executeRaw`UPDATE counted SET n = n + 1`;
      proxy.freeze();
      isOpen = true;
      await new Promise<void>((resolve) => {
        go = resolve;
      });
    });
    open.catch(() => undefined);
    await until('the transaction', () => isOpen);
    await other.db.$executeRaw`UPDATE counted SET n = n + 10`;
    expect(await query(other.db, { n: 'int4' })`SELECT n FROM counted`).toEqual([{ n: 11 }]);
    proxy.thaw();
    go();
    await expect(open).rejects.toThrow();
    const setting = await query(other.db, { ms: 'text' })`
      SELECT current_setting('idle_in_transaction_session_timeout') AS ms`;
    expect(setting).toEqual([{ ms: '30s' }]);
  } finally {
    await Promise.all([stopped.close(), other.close()]);
    await proxy.close();
  }
});

test('Postgres ends the large read of a process that stands still, and with it its locks and its snapshot', async () => {
  const proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const options = { applicationName: 'reading', connectTimeoutMs: 5_000, queryTimeoutMs: 5_000, maxConnections: 1 };
  const stopped = connectReader({ ...options, url: proxy.through(cloned.url), idleTransactionMs: 1_000 });
  const other = connectDatabase({ ...options, applicationName: 'other', url: cloned.url });
  const reading = () => query(other.db, { pid: 'int4' })`
    SELECT pid FROM pg_stat_activity
    WHERE application_name = 'reading' AND datname = current_database() AND backend_xmin IS NOT NULL`;
  try {
    const read = stopped.snapshot(async (reader) => {
      await query(reader, { id: 'uuid' })`SELECT id FROM "check" LIMIT 1`;
      expect(await reading()).toHaveLength(1);
      proxy.freeze();
      await until('its end', async () => (await reading()).length === 0);
      proxy.thaw();
      await query(reader, { id: 'uuid' })`SELECT id FROM "check" LIMIT 1`;
    });
    await expect(read).rejects.toThrow(/terminat/);
  } finally {
    await Promise.all([stopped.close(), other.close()]);
    await proxy.close();
  }
});

test('a process whose connections are all in use is not called unreachable, and one whose Postgres is silent is', async () => {
  const proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const { db, warmed, close } = connectDatabase({
    ...{ url: proxy.through(cloned.url), applicationName: 'crowded', connectTimeoutMs: 1_000, queryTimeoutMs: 5_000 },
    ...{ maxConnections: 1, keepOpen: 1 },
  });
  await warmed;
  let busy = true;
  /** Statements, each of which waits for a connection for longer than it may. */
  const callers = Array.from({ length: 16 }, async () => {
    let refused = 0;
    while (busy)
      await db.$executeRaw`SELECT pg_sleep(0.15)`.catch(() => {
        refused += 1;
      });
    return refused;
  });
  try {
    for (let pings = 0; pings < 12; pings += 1) await db.$ping();
    busy = false;
    expect((await Promise.all(callers)).reduce((sum, refused) => sum + refused)).toBeGreaterThan(0);
    proxy.freeze();
    await expect(db.$ping()).rejects.toThrow(/timeout/i);
  } finally {
    busy = false;
    await Promise.all(callers);
    await close();
    await proxy.close();
  }
});

test('Postgres ends the connections of a machine that is gone within a minute', async () => {
  const options = { url: cloned.url, applicationName: 'gone', connectTimeoutMs: 5_000, queryTimeoutMs: 5_000 };
  const database = connectDatabase({ ...options, maxConnections: 1 });
  const large = connectReader({ ...options, maxConnections: 1 });
  const locker = await connectClient(cloned.url);
  expect(await takeLock(locker, [1, 2])).toBe(true);
  try {
    for (const reader of [database.db, large.reader, statementsOn(locker)]) {
      const settings = ['idle', 'interval', 'count'].map((name) => `tcp_keepalives_${name}`);
      const rows = await query(reader, { value: 'int4' })`
        SELECT current_setting(name)::int AS value FROM unnest(${settings}::text[]) AS name`;
      const [idle = 0, interval = 0, count = 0] = rows.map(({ value }) => value);
      expect(idle).toBeGreaterThan(0);
      expect(idle + interval * count).toBeLessThanOrEqual(60);
    }
  } finally {
    await Promise.all([database.close(), large.close(), locker.end()]);
  }
});

test('a connection that breaks during a large read fails the read, and nothing else', async () => {
  const proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const { reader, snapshot, close } = connectReader({
    ...{ url: proxy.through(cloned.url), applicationName: 'reader', connectTimeoutMs: 5_000, queryTimeoutMs: 5_000 },
    maxConnections: 1,
  });
  try {
    const brokenBetween = snapshot(async (tx) => {
      proxy.reset();
      await until('the connection to end', () => proxy.counts().open === 0);
      return query(tx, { n: 'int4' })`SELECT 1 AS n`;
    });
    await expect(brokenBetween).rejects.toThrow();
    const brokenDuring = snapshot((tx) => {
      const reading = query(tx, { slept: 'text' })`SELECT pg_sleep(5)::text AS slept`;
      proxy.reset();
      return reading;
    });
    await expect(brokenDuring).rejects.toThrow();
    expect(await query(reader, { n: 'int4' })`SELECT 1 AS n`).toEqual([{ n: 1 }]);
  } finally {
    await close();
    await proxy.close();
  }
});
