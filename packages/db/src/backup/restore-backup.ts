import path from 'node:path';
import pg from 'pg';
import { migrate, readMigrationFiles } from '../migrate.js';
import { connectClient, prepareConnection } from '../prepare-connection.js';
import { describeTables, readMigrations } from './describe-tables.js';
import {
  BackupError,
  type BackupFigures,
  type BackupPartition,
  type BackupTable,
  figuresOf,
  type Manifest,
  readManifest,
} from './manifest.js';
import { readTable, verifyTable } from './table-file.js';

const NEW_DATABASE = 'Restore into a new, empty database.';

/** Throws {@link BackupError} if this release cannot bring a database to the schema of the backup. */
const assertKnownSchema = ({ migrations }: Manifest, directory: string): void => {
  const known = new Map(readMigrationFiles(directory).map(({ name, checksum }) => [name, checksum]));
  for (const { name, checksum } of migrations) {
    if (known.get(name) === checksum) continue;
    throw new BackupError(
      `The backup has the schema of another release: this one ${known.has(name) ? 'has another' : 'lacks the'} migration ${name}. ` +
        'Restore it with the release that wrote it, or a later one.',
    );
  }
};

/** Throws {@link BackupError} if the database has migrations that the backup lacks. */
const assertNotNewer = async (client: pg.Client, { migrations }: Manifest): Promise<void> => {
  const wanted = new Set(migrations.map(({ name }) => name));
  const surplus = (await readMigrations(client)).find(({ name }) => !wanted.has(name));
  if (surplus)
    throw new BackupError(`The database has a newer schema than the backup (${surplus.name}). ${NEW_DATABASE}`);
};

/** Throws {@link BackupError} if a table has rows. */
const assertEmpty = async (client: pg.Client, tables: readonly { name: string }[]): Promise<void> => {
  for (const { name } of tables) {
    const { rowCount } = await client.query(`SELECT FROM ${pg.escapeIdentifier(name)} LIMIT 1`);
    if (rowCount) throw new BackupError(`The table ${name} is not empty. ${NEW_DATABASE}`);
  }
};

/** Gives an empty table the partitions that it had, so that retention drops what it would have dropped. */
const restorePartitions = async (
  client: pg.Client,
  { name, partitions }: BackupTable,
  existing: readonly BackupPartition[],
): Promise<void> => {
  if (partitions.length === 0) return;
  const partitionIn = (of: BackupPartition) => `${pg.escapeIdentifier(of.schema)}.${pg.escapeIdentifier(of.name)}`;
  if (existing.length > 0) await client.query(`DROP TABLE ${existing.map(partitionIn).join(', ')}`);
  for (const partition of partitions) {
    const { bound, options } = partition;
    const storage = options.length > 0 ? ` WITH (${options.join(', ')})` : '';
    await client.query(
      `CREATE TABLE ${partitionIn(partition)} PARTITION OF ${pg.escapeIdentifier(name)} ${bound}${storage}`,
    );
  }
};

/** Fills the tables in one transaction, so that a restore that fails leaves none of them filled. */
const fillTables = async (client: pg.Client, manifest: Manifest, directory: string): Promise<void> => {
  const quoted = pg.escapeIdentifier;
  await client.query(`
    BEGIN;
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL lock_timeout = '10s'`);
  const existing = await describeTables(client);
  const all = existing.map(({ name }) => quoted(name)).join(', ');
  await client.query(`LOCK TABLE ${all} IN ACCESS EXCLUSIVE MODE`).catch((error: unknown) => {
    throw new BackupError(`The tables are in use (${(error as Error).message}): stop the service.`);
  });
  await assertEmpty(client, existing);
  const contents = new Map(manifest.tables.map((table) => [table.name, table]));
  // In today's order of the foreign keys. A table that the backup lacks cannot exist at its schema.
  for (const { name, partitions } of existing) {
    const table = contents.get(name);
    if (!table) throw new BackupError(`The backup does not contain the table ${name}: use another copy of the backup.`);
    await restorePartitions(client, table, partitions);
    // Rows are complete already; triggers would add to them.
    await client.query(`ALTER TABLE ${quoted(name)} DISABLE TRIGGER USER`);
    await readTable(client, directory, table);
    await client.query(`ALTER TABLE ${quoted(name)} ENABLE TRIGGER USER`);
  }
  for (const { name, last_value } of manifest.sequences)
    await client.query('SELECT setval($1::regclass, $2::bigint)', [quoted(name), last_value]);
  await client.query('COMMIT');
};

/** Runs a step after the rows are committed, when a second restore would be refused: its error says what is left to do. */
const withRowsRestored = async (remedy: string, step: () => Promise<unknown>): Promise<void> => {
  try {
    await step();
  } catch (error) {
    throw new BackupError(
      `All rows are restored, but then: ${(error as Error).message} Do not restore again: ${remedy}.`,
    );
  }
};

/**
 * Restores a backup into a database without rows: migrates it to the schema of the backup, fills its tables, then applies the
 * migrations that the backup lacks. All files are verified before anything is changed. Throws {@link BackupError}.
 *
 * @param migrations the folder of this release's migrations
 */
export const restoreBackup = async (url: string, directory: string, migrations: string): Promise<BackupFigures> => {
  const startedAt = performance.now();
  const source = path.resolve(directory);
  const manifest = await readManifest(source);
  assertKnownSchema(manifest, migrations);
  for (const table of manifest.tables) await verifyTable(source, table);
  const client = await connectClient(url, 'vat-restore');
  try {
    await prepareConnection(client);
    await assertNotNewer(client, manifest);
    // Before any lock or migration: the database may be that of a running service. Rows that are added later are found under the lock.
    await assertEmpty(client, await describeTables(client));
    await migrate(url, migrations, new Set(manifest.migrations.map(({ name }) => name)));
    await fillTables(client, manifest, source);
    await withRowsRestored('run `admin migrate`', () => migrate(url, migrations));
    // Without statistics the first statements on millions of rows would read whole tables. In a transaction, which lifts the time-outs
    // that the role may have: they would end this after all rows are there, and a second restore is refused then. Autovacuum may have
    // the lock of a table for a second.
    await withRowsRestored('run `ANALYZE` in the database', () =>
      client.query('BEGIN; SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; ANALYZE; COMMIT'),
    );
    return figuresOf(manifest, startedAt);
  } finally {
    await client.end().catch(() => undefined);
  }
};
