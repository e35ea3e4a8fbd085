import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { connectClient, prepareConnection } from '../prepare-connection.js';
import { describeTables, readMigrations, readSequences } from './describe-tables.js';
import {
  BackupError,
  type BackupFigures,
  type BackupTable,
  figuresOf,
  MANIFEST_FILE,
  type Manifest,
} from './manifest.js';
import { syncPath, writeTable } from './table-file.js';

/** Throws {@link BackupError} unless `directory` does not exist or is empty. */
const assertFree = async (directory: string): Promise<void> => {
  const entries = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw new BackupError(`${directory} cannot be used (${error.code}): name a new directory.`);
  });
  if (entries.length > 0) throw new BackupError(`${directory} is not empty: name a new directory for each backup.`);
};

/**
 * Removes the empty `directory` if it exists, so that the complete copy can take its name. Throws {@link BackupError} when that cannot
 * be done, as with a mount point, a link, and a folder in one that is not ours: hours later the copy could not be moved there.
 */
const makeWay = async (directory: string): Promise<void> => {
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return;
    throw new BackupError(
      `${directory} cannot be replaced (${error.code}): name a new directory, in it if it is a mount point.`,
    );
  });
};

/** Creates a folder and those above it. `mkdir` with `recursive` never ends where none can be created, such as in /proc. */
const createFolder = async (folder: string): Promise<void> => {
  const create = () => mkdir(folder, { mode: 0o700 });
  await create().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EEXIST') return;
    if (error.code !== 'ENOENT') throw error;
    await createFolder(path.dirname(folder));
    await create();
  });
};

/** Copies all tables as one snapshot sees them. */
const copyTables = async (client: pg.Client, directory: string, now: () => Date): Promise<Manifest> => {
  const names = (await describeTables(client)).map(({ name }) => pg.escapeIdentifier(name));
  if (names.length === 0) throw new BackupError('The database has no tables: set DATABASE_URL to that of the service.');
  // Before the snapshot: what is revoked or erased while the tables are copied is later than the backup.
  const createdAt = now();
  // A transaction has its own time-outs, because a pooler gives those of a session to other clients.
  await client.query(`
    BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
    SET LOCAL statement_timeout = 0;
    SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL lock_timeout = '30s'`);
  // The first statement after the locks takes the snapshot. From here no table or partition is altered or dropped.
  await client.query(`LOCK TABLE ${names.join(', ')} IN ACCESS SHARE MODE`);
  const tables: BackupTable[] = [];
  const migrations = await readMigrations(client);
  for (const table of await describeTables(client)) tables.push(await writeTable(client, directory, table));
  // Sequences are outside of the snapshot: read last, their values are not behind those of the rows.
  const sequences = await readSequences(client);
  await client.query('COMMIT');
  return { format: 1, created_at: createdAt.toISOString(), migrations, tables, sequences };
};

/**
 * Writes all tables of a database to a new folder, while the service runs: one snapshot, in which every row fits the others.
 * The folder appears when it is complete. Throws {@link BackupError}.
 */
export const writeBackup = async (url: string, directory: string, now: () => Date): Promise<BackupFigures> => {
  const startedAt = performance.now();
  const target = path.resolve(directory);
  await assertFree(target);
  const partial = `${target}.partial-${randomUUID()}`;
  const client = await connectClient(url, 'vat-backup');
  try {
    await prepareConnection(client);
    await createFolder(partial).catch((error: NodeJS.ErrnoException) => {
      throw new BackupError(`${directory} cannot be created (${error.code}): name a directory that can be written.`);
    });
    await makeWay(target);
    const manifest = await copyTables(client, partial, now);
    const file = path.join(partial, MANIFEST_FILE);
    await writeFile(file, `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
    await syncPath(file);
    await syncPath(partial);
    await rename(partial, target);
    await syncPath(path.dirname(target));
    return figuresOf(manifest, startedAt);
  } finally {
    await client.end().catch(() => undefined);
    await rm(partial, { recursive: true, force: true });
  }
};
