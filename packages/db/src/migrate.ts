import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { prepareConnection } from './prepare-connection.js';
import { connectWithLocker, takeLock } from './take-lock.js';

/** The lock key of Prisma's own schema engine, so that `prisma migrate deploy` and this function never run at once. */
const MIGRATION_LOCK = 72_707_369;

const BOOKKEEPING = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL, checksum VARCHAR(64) NOT NULL, finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL, logs TEXT, rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(), applied_steps_count INTEGER NOT NULL DEFAULT 0)`;

/** Postgres: a lock was not granted within `lock_timeout`; the transaction was chosen to resolve a deadlock. */
const NOT_LOCKED: readonly unknown[] = ['55P03', '40P01'];
const ATTEMPTS = 60;
const PAUSE_MS = 1_000;

/**
 * Runs a migration that takes its locks within a `lock_timeout` of its own, so that the running release never waits long for
 * it. A migration is one transaction: when a lock is not granted nothing has changed, and it is tried again.
 */
const untilLocked = async (run: () => Promise<unknown>): Promise<void> => {
  for (let attempt = 1; ; attempt += 1)
    try {
      await run();
      return;
    } catch (error) {
      if (attempt === ATTEMPTS || !(error instanceof pg.DatabaseError) || !NOT_LOCKED.includes(error.code)) throw error;
      await pause(PAUSE_MS);
    }
};

type Applied = { migration_name: string; checksum: string; finished_at: Date | null };
type Migration = { name: string; sql: string; checksum: string };

/** Postgres: the statement cannot run, or commit, in a transaction of several statements. */
const RUNS_ALONE: readonly unknown[] = ['25001', '2D000'];

const runsAlone = (error: unknown): boolean => error instanceof pg.DatabaseError && RUNS_ALONE.includes(error.code);

/** Drops the indexes that the statement makes: a run that was interrupted left them, perhaps half built. */
const dropLeftIndexes = async (client: pg.Client, sql: string): Promise<void> => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT i.indexrelid::regclass::text AS name FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relnamespace::regnamespace::text IN (current_schema(), 'partitions')
       AND position('INDEX CONCURRENTLY "' || c.relname || '"' IN $1) > 0`,
    [sql],
  );
  for (const { name } of rows) await client.query(`DROP INDEX CONCURRENTLY ${name}`);
};

/**
 * Applies a migration together with its row, so that one that is interrupted has changed nothing, and the next run applies it.
 * A statement that runs alone can be repeated; its row follows.
 */
const apply = async (client: pg.Client, { name, sql, checksum }: Migration): Promise<void> => {
  const values = [randomUUID(), checksum, name].map((value) => client.escapeLiteral(value)).join(', ');
  const note = `INSERT INTO _prisma_migrations (id, checksum, migration_name, finished_at, applied_steps_count)
    VALUES (${values}, now(), 1)`;
  try {
    await untilLocked(() => client.query(`${note};\n${sql}`)).catch(async (error: unknown) => {
      if (!runsAlone(error)) throw error;
      await dropLeftIndexes(client, sql);
      await untilLocked(() => client.query(sql));
      await client.query(note);
    });
  } catch (error) {
    throw new Error(`P3018: migration ${name} failed: ${error instanceof Error ? error.message : String(error)}`);
  }
};

/** The migrations of a release in their order, each with the SHA-256 of its SQL. */
export const readMigrationFiles = (directory: string): Migration[] =>
  readdirSync(directory)
    .filter((name) => existsSync(path.join(directory, name, 'migration.sql')))
    .sort()
    .map((name) => {
      const sql = readFileSync(path.join(directory, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });

/**
 * Applies `prisma/migrations` in order, with Prisma's own bookkeeping, so that `prisma migrate deploy` can be used as well.
 * It exists because Prisma's schema engine is a download, which a closed network does not allow. Returns the names of the
 * applied migrations. `only`: the migrations to apply, by default all. Throws P3018 when a migration fails, P3009 when an earlier
 * release or `prisma migrate deploy` did not finish one, and an error when an applied migration was edited.
 */
export const migrate = async (url: string, directory: string, only?: ReadonlySet<string>): Promise<string[]> => {
  const { locker, client, close } = await connectWithLocker(url);
  try {
    await takeLock(locker, [MIGRATION_LOCK]);
    // A migration of large tables takes longer than a time-out that the role may have.
    await prepareConnection(client, { statement_timeout: '0', lock_timeout: '0' });
    await client.query(BOOKKEEPING);
    const { rows } = await client.query<Applied>(
      'SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL',
    );
    const failed = rows.find((row) => row.finished_at === null);
    if (failed)
      throw new Error(
        `P3009: migration ${failed.migration_name} was not finished. If its changes are in the database, set finished_at of its row in _prisma_migrations; otherwise delete the row`,
      );
    const checksums = new Map(rows.map((row) => [row.migration_name, row.checksum]));
    const applied: string[] = [];
    for (const migration of readMigrationFiles(directory)) {
      const { name, checksum } = migration;
      if (only && !only.has(name)) continue;
      const known = checksums.get(name);
      if (known === checksum) continue;
      if (known !== undefined)
        throw new Error(`migration ${name} was edited after it was applied; add a new one instead`);
      await apply(client, migration);
      applied.push(name);
    }
    return applied;
  } finally {
    await close();
  }
};
