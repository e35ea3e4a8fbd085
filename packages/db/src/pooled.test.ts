import { type ClonedDatabase, cloneDatabase, type Pooler, runSql, startPooler } from '@vat/testkit';
import type { ConnectedDatabase, Database } from './connect-database.js';
import { connectReader } from './connect-reader.js';
import { memberStateSlots } from './member-state-slots.js';
import { query, typed } from './query.js';
import { connectTo } from './test-database.fixture.js';
import { verifySlotsUrl } from './verify-slots-url.js';

let cloned: ClonedDatabase;
let transactions: Pooler;
let sessions: Pooler;
const opened: { close: () => Promise<void> }[] = [];
const connect = (url: string, maxConnections = 10): ConnectedDatabase => {
  const connected = connectTo(url, maxConnections);
  opened.push(connected);
  return connected;
};

beforeAll(async () => {
  cloned = await cloneDatabase();
  // Each connection must set UTC; otherwise its times are nine hours wrong.
  await runSql(cloned.url, `ALTER DATABASE ${new URL(cloned.url).pathname.slice(1)} SET TimeZone = 'Asia/Tokyo'`);
  [transactions, sessions] = await Promise.all([startPooler({ poolSize: 3 }), startPooler({ mode: 'session' })]);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map(({ close }) => close()));
});
afterAll(async () => {
  await Promise.all([transactions?.stop(), sessions?.stop()]);
  await cloned?.drop();
});

/** Backends with the statements that were prepared on them, by connections of this test. */
const preparedOn = (db: Database) => query(db, { pid: 'int4', names: typed<string[]>('text[]') })`
  SELECT pg_backend_pid() AS pid, ARRAY(SELECT name FROM pg_prepared_statements ORDER BY name) AS names`;

test('statements of many clients share three connections of a transaction pooler', async () => {
  const pools = Array.from({ length: 4 }, () => connect(transactions.urlOf(cloned.url)));
  const rows = await Promise.all(
    Array.from({ length: 160 }, async (_, n) => {
      const db = pools[n % 4]?.db as Database;
      const at = new Date(1_700_000_000_000 + n);
      const [row] = await query(db, { n: 'int4', at: 'timestamptz', zone: 'text', pid: 'int4' })`
        SELECT ${n}::int AS n, ${at}::timestamptz AS at, current_setting('TimeZone') AS zone, pg_backend_pid() AS pid`;
      return { ...row, right: row?.n === n && row.at.getTime() === at.getTime() && row.zone === 'UTC' };
    }),
  );
  expect(rows.filter(({ right }) => !right)).toEqual([]);
  expect(new Set(rows.map(({ pid }) => pid)).size).toBeLessThanOrEqual(3);
});

test.each([
  ['a transaction pooler', () => transactions.urlOf(cloned.url)],
  ['Postgres', () => cloned.url],
])('a transaction over %s is one transaction, and is rolled back as one', async (_, urlOf) => {
  const { db } = connect(urlOf());
  const transactionsSeen = await Promise.all(
    Array.from({ length: 20 }, () =>
      db.$transaction(async (tx) => {
        const read = () => query(tx, { id: 'text' })`SELECT pg_current_xact_id()::text AS id`;
        return new Set([...(await read()), ...(await read())].map(({ id }) => id)).size;
      }),
    ),
  );
  expect(transactionsSeen).toEqual(transactionsSeen.map(() => 1));
  const failing = db.$transaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO source_search (source, day, used) VALUES ('pooled', '2026-01-01', 1)`;
    throw new Error('rolled back');
  });
  await expect(failing).rejects.toThrow('rolled back');
  expect(await query(db, { n: 'int4' })`SELECT count(*)::int AS n FROM source_search`).toEqual([{ n: 0 }]);
});

test('statements are named on direct connections, and not where a pooler passes the name to a backend', async () => {
  const direct = connect(cloned.url, 1).db;
  for (let n = 0; n < 10; n += 1) await preparedOn(direct);
  const [repeated] = await preparedOn(direct);
  expect(repeated?.names.filter((name) => name.startsWith('vat_'))).not.toEqual([]);
  const pooled = connect(transactions.urlOf(cloned.url), 5).db;
  for (let n = 0; n < 10; n += 1) await preparedOn(pooled);
  const all = await Promise.all(Array.from({ length: 40 }, () => preparedOn(pooled)));
  // A newer PgBouncer names statements itself; each name then begins with its own.
  expect(all.flat().flatMap(({ names }) => names.filter((name) => !name.startsWith('PGBOUNCER_')))).toEqual([]);
});

test('a direct connection limits its statements; a pooled one leaves no time-out to the next client', async () => {
  const limit = (db: Database) => query(db, { limit: 'text' })`SELECT current_setting('statement_timeout') AS limit`;
  expect(await limit(connect(cloned.url).db)).toEqual([{ limit: '5s' }]);
  expect(await limit(connect(transactions.urlOf(cloned.url)).db)).toEqual([{ limit: '0' }]);
});

test.each([
  ['a transaction pooler', () => transactions.urlOf(cloned.url)],
  ['Postgres', () => cloned.url],
])('large reads over %s have a time-out, UTC and one snapshot, and leave nothing behind', async (_, urlOf) => {
  const read = connectReader({
    ...{ url: urlOf(), maxConnections: 2, queryTimeoutMs: 200, connectTimeoutMs: 5_000, applicationName: 'vat-test' },
  });
  opened.push(read);
  const values = () => query(read.reader, { zone: 'text', limit: 'text' })`
    SELECT current_setting('TimeZone') AS zone, current_setting('statement_timeout') AS limit`;
  expect(await values()).toEqual([{ zone: 'UTC', limit: '200ms' }]);
  const tooLong = query(read.reader, { done: 'text' })`SELECT pg_sleep(5)::text AS done`;
  await expect(tooLong).rejects.toThrow(/statement timeout/);
  const ids = await read.snapshot(async (reader) => {
    const now = () => query(reader, { at: 'text' })`SELECT now()::text AS at`;
    return [...(await now()), ...(await now())];
  });
  expect(ids[0]).toEqual(ids[1]);
  expect(await runSql(urlOf(), `SELECT current_setting('statement_timeout') AS limit`)).toEqual([{ limit: '0' }]);
});

describe('slots', () => {
  test.each([
    ['a transaction pooler', () => transactions],
    ['a session pooler', () => sessions],
  ])('are never acquired over %s', async (_, pooler) => {
    const slots = memberStateSlots({ url: pooler().urlOf(cloned.url), lookupMs: 1_000, onError: () => undefined });
    opened.push(slots);
    await expect(slots.take('DE')).rejects.toThrow(/pooler/);
    const locks = await runSql(
      cloned.url,
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    );
    expect(locks).toEqual([]);
  });

  test('need a direct connection to the database of the service', async () => {
    const pooled = transactions.urlOf(cloned.url);
    const other = new URL(cloned.url);
    other.pathname = '/postgres';
    const away = new URL(cloned.url);
    away.port = '1';
    const pairs: [string, string][] = [
      [cloned.url, cloned.url],
      [cloned.url, pooled],
      [pooled, pooled],
      [sessions.urlOf(cloned.url), cloned.url],
      [other.href, pooled],
      [away.href, pooled],
      [cloned.url, away.href],
    ];
    const found = await Promise.all(pairs.map(([slots, database]) => verifySlotsUrl(slots, database)));
    expect(found).toEqual(['direct', 'direct', 'pooled', 'pooled', 'other_database', 'unknown', 'direct']);
  });
});
