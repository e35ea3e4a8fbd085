import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ClonedDatabase, cloneDatabase, openSql, until } from '@vat/testkit';
import pg from 'pg';
import { migrate } from './migrate.js';

let database: ClonedDatabase;
let folder: string;
let sql: ReturnType<typeof openSql>['sql'];
/** Closed after each test, last one first. */
const open: (() => unknown)[] = [];
beforeEach(async () => {
  database = await cloneDatabase();
  open.push(database.drop);
  const opened = openSql(database.url);
  open.push(opened.close);
  ({ sql } = opened);
  await sql('DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE busy (n int)');
  folder = mkdtempSync(path.join(tmpdir(), 'vat-migrations-'));
  open.push(() => rmSync(folder, { recursive: true }));
});
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

const writeMigration = (name: string, text: string): void => {
  mkdirSync(path.join(folder, name));
  writeFileSync(path.join(folder, name, 'migration.sql'), text);
};

/** Runs `migrate` until a statement of it waits for a writer of `busy`, and ends its connections, as when it is killed. */
const interrupt = async (): Promise<void> => {
  const writer = new pg.Client({ connectionString: database.url });
  await writer.connect();
  try {
    await writer.query('BEGIN; INSERT INTO busy VALUES (1)');
    const migrating = migrate(database.url, folder).then(
      () => 'migrated',
      () => 'interrupted',
    );
    const ended = await until('the migration to wait', async () => {
      const rows = await sql(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%busy%'`,
      );
      return rows.length > 0 && rows;
    });
    expect([ended.length, await migrating]).toEqual([1, 'interrupted']);
  } finally {
    await writer.end();
  }
};

test.each([
  ['of several statements', 'CREATE TABLE made (n int);\nALTER TABLE busy ADD COLUMN m int;', ['made']],
  ['that builds an index while the service runs', 'CREATE INDEX CONCURRENTLY "busy_n" ON "busy" ("n");', ['busy_n']],
  ['that commits by itself', 'DO $$ BEGIN COMMIT; LOCK TABLE busy; END $$;', []],
])('a migration %s that was interrupted is applied by the next run', async (_what, text, made) => {
  writeMigration('1_interrupted', text);
  await interrupt();
  expect(await migrate(database.url, folder)).toEqual(['1_interrupted']);
  expect(await migrate(database.url, folder)).toEqual([]);
  const found = await sql(
    `SELECT c.relname AS name, COALESCE(i.indisvalid, true) AS valid FROM pg_class c LEFT JOIN pg_index i ON i.indexrelid = c.oid
     WHERE c.relname IN ('made', 'busy_n')`,
  );
  expect(found).toEqual(made.map((name) => ({ name, valid: true })));
});

test('an index that was built, but not noted, is built again', async () => {
  writeMigration('1_index', 'CREATE INDEX CONCURRENTLY "busy_n" ON "busy" ("n");');
  await sql('CREATE INDEX "busy_n" ON "busy" ("n")');
  expect(await migrate(database.url, folder)).toEqual(['1_index']);
});

test('a migration that fails changes nothing, says why, and is tried again by the next run', async () => {
  writeMigration('1_failing', 'CREATE TABLE made (n int);\nALTER TABLE missing ADD COLUMN m int;');
  for (const _run of [1, 2])
    await expect(migrate(database.url, folder)).rejects.toThrow(/P3018: migration 1_failing failed: .*"missing"/);
  await sql('CREATE TABLE missing ()');
  expect(await migrate(database.url, folder)).toEqual(['1_failing']);
});
