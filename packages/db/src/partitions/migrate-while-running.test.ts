import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type NewRequest, newUuid } from '@vat/domain';
import { type ClonedDatabase, cloneDatabase, runSql } from '@vat/testkit';
import pg from 'pg';
import type { ConnectedDatabase } from '../connect-database.js';
import { migrate } from '../migrate.js';
import { admitRequest } from '../request/admit-request.js';
import { findCheck } from '../request/checks.js';
import { findRequest } from '../request/requests.js';
import { settleRequest } from '../request/settle-request.js';
import { connectTo } from '../test-database.fixture.js';

const MIGRATIONS = path.resolve(import.meta.dirname, '../../../../prisma/migrations');
/**
 * The migrations that partition the tables, and those of indexes on partitions. Other ones with higher numbers were applied
 * before them in some databases.
 */
const OF_PARTITIONS = /^(?:202611231\d{5}|2026112501[12]000)_/;
const NIL = '00000000-0000-0000-0000-000000000000';
const AT = new Date();

/** Opened during a test, closed after it. */
const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A database in the schema of the release before partitions. */
const databaseBefore = async (): Promise<ClonedDatabase> => {
  const database = await cloneDatabase();
  open.push(database.drop);
  await runSql(database.url, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-migrations-'));
  open.push(() => rmSync(folder, { recursive: true }));
  for (const name of readdirSync(MIGRATIONS))
    if (!OF_PARTITIONS.test(name)) cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true });
  await migrate(database.url, folder);
  return database;
};

const connect = (url: string): ConnectedDatabase => {
  const connected = connectTo(url, 8, 10_000);
  open.push(connected.close);
  return connected;
};

const requestOf = (accountId: string): NewRequest => ({
  ...{ id: newUuid(), accountId, test: false, input: 'DE1', memberState: 'DE', national: '1', vatNumber: 'DE1' },
  ...{ requester: null, reference: null, trader: null, entries: [], createdAt: AT, windowEndsAt: AT },
});

test('a release that runs during the migration loses nothing, and no statement of it fails', async () => {
  const database = await databaseBefore();
  const { db } = connect(database.url);
  const accountId = newUuid();
  await db.$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${accountId}::uuid, 'A', 'free', now())`;
  const settled: { requestId: string; checkId: string }[] = [];
  const check = async (): Promise<void> => {
    const request = requestOf(accountId);
    await admitRequest(db)({
      request,
      quota: { period: '2026-11', limit: 1_000_000 },
      maxPending: 10,
      idempotency: null,
    });
    const checkId = newUuid();
    await settleRequest(db)({
      requestId: request.id,
      entries: [],
      check: {
        ...{ id: checkId, vatNumber: 'DE1', valid: true, reference: null, checkedAt: AT },
        ...{ bytes: new Uint8Array([123, 125]), hash: new Uint8Array(32) },
      },
      ...{ consumes: true, exchanges: [], now: AT, deliveryId: newUuid() },
      event: { id: newUuid(), type: 'check.completed', body: '{}' },
    });
    settled.push({ requestId: request.id, checkId });
  };
  for (let n = 0; n < 50; n += 1) await check();
  let migrating = true;
  const traffic = Promise.all(
    [1, 2, 3, 4].map(async () => {
      while (migrating) await check();
    }),
  );
  const applied = await migrate(database.url, MIGRATIONS).finally(() => {
    migrating = false;
  });
  await traffic;
  expect(applied.length).toBeGreaterThan(1);
  for (let n = 0; n < 50; n += 1) await check();
  expect(settled.length).toBeGreaterThan(100);
  for (const { requestId, checkId } of settled) {
    expect((await findRequest(db)(requestId))?.check?.id).toBe(checkId);
    expect((await findCheck(db)(checkId, { accountId, testOnly: false }))?.id).toBe(checkId);
  }
  const [counts] = await db.$queryRaw<unknown[]>`
    SELECT (SELECT count(*)::int FROM request) AS requests, (SELECT count(*)::int FROM "check") AS checks,
      (SELECT count(*)::int FROM anchor_leaf) AS leaves, (SELECT count(*)::int FROM usage_entry) AS units`;
  const n = settled.length;
  expect(counts).toEqual({ requests: n, checks: n, leaves: n, units: n });
});

test('a row with an id of the future ends the migration before anything has changed', async () => {
  const database = await databaseBefore();
  const { db } = connect(database.url);
  await db.$executeRaw`
    INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
    VALUES ('f0000000-0000-4000-8000-000000000000', ${NIL}::uuid, '2026-11', now())`;
  await expect(migrate(database.url, MIGRATIONS)).rejects.toThrow(
    /usage_entry has rows whose check_id is not time-ordered/,
  );
  expect(await db.$queryRaw`SELECT count(*)::int AS n FROM pg_constraint WHERE conname = 'partition_bound'`).toEqual([
    { n: 0 },
  ]);
});

type Frozen = { text: string; values: unknown[] };

/** The statements that the release before sent to these tables, with values. Recorded from its build. */
const FROZEN: Frozen[] = JSON.parse(
  readFileSync(path.join(import.meta.dirname, 'statements-before-partitions.fixture.json'), 'utf8'),
);

const decode = (value: unknown): unknown => {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  if ('date' in value) return new Date(String(value.date));
  if ('hex' in value) return Buffer.from(String(value.hex), 'hex');
  return value;
};

/** One row of everything, with ids that the frozen statements use. */
const FILL = `
  INSERT INTO account (id, name, plan, created_at) VALUES ('${NIL}', 'A', 'free', now());
  INSERT INTO usage (account_id, period, used, reserved) VALUES ('${NIL}', '1970-01', 1, 1);
  INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at)
    VALUES ('${NIL}', 'https://example.com/', '', 'whsec_aa', '1970-01-01');
  INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at, window_ends_at,
    due_at, quota_period, give_up_at)
    VALUES ('${NIL}', '${NIL}', false, 'pending', 'DE1', 'DE', '1', 'DE1', '[]', '1970-01-01', '1970-01-01', '1970-01-01', '1970-01', '1970-01-01');
  INSERT INTO anchor_leaf (check_id, hash) VALUES ('11111111-1111-7111-8111-111111111111', decode(repeat('00', 32), 'hex'));
  INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
    VALUES ('00000000-0000-7000-8000-000000000001', '${NIL}', 'webhook.test', '00000000-0000-7000-8000-000000000001', '{}', true, '1970-01-01');
  INSERT INTO delivery (id, account_id, event_id, state, created_at, next_attempt_at, test)
    VALUES ('${NIL}', '${NIL}', '00000000-0000-7000-8000-000000000001', 'pending', '1970-01-01', '1970-01-01', true)`.replaceAll(
  '11111111-1111-7111-8111-111111111111',
  '00000000-0000-7000-8000-000000000002',
);

/** What a statement does in an empty or filled database: its rows, or the code of its error. Nothing remains. */
const outcomes = async (url: string, fill: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const all: unknown[] = [];
    for (const { text, values } of FROZEN) {
      await client.query(`BEGIN; ${fill}`);
      const outcome = await client.query(text, values.map(decode)).then(
        ({ rows, rowCount }) => ({ rows: rows, rowCount }),
        (error: pg.DatabaseError) => ({ code: error.code }),
      );
      all.push({ text, outcome });
      await client.query('ROLLBACK');
    }
    return all;
  } finally {
    await client.end();
  }
};

test('the statements of the release before do the same with and without partitions', async () => {
  const before = await databaseBefore();
  const after = await cloneDatabase();
  open.push(after.drop);
  for (const fill of ['', FILL]) {
    const [expected, actual] = [await outcomes(before.url, fill), await outcomes(after.url, fill)];
    expect(actual).toEqual(expected);
  }
});
