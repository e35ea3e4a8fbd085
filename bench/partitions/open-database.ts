import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Database, migrate } from '@vat/db';
import { newUuid } from '@vat/domain';
import { cloneDatabase, makePastMonths } from '@vat/testkit';
import pg from 'pg';
import { connectBench } from '../open-world.js';

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
/** The migrations that partition the tables, and those that need partitions. */
const OF_PARTITIONS = /^(?:202611231\d{5}|2026112501[12]000)_/;

/** A database with one account. `months`: partitions before the current one; null for tables without partitions. */
export type BenchDatabase = {
  months: number | null;
  url: string;
  db: Database;
  accountId: string;
  close: () => Promise<void>;
};

/** Replaces the schema by one without partitions. */
const unpartition = async (client: pg.Client, url: string): Promise<void> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'vat-bench-'));
  try {
    await client.query('DROP SCHEMA public CASCADE; DROP SCHEMA partitions CASCADE; CREATE SCHEMA public');
    for (const name of readdirSync(MIGRATIONS))
      if (!OF_PARTITIONS.test(name)) cpSync(path.join(MIGRATIONS, name), path.join(folder, name), { recursive: true });
    await migrate(url, folder);
    // Columns that statements write.
    await client.query('ALTER TABLE anchor ADD COLUMN first_leaf uuid, ADD COLUMN last_leaf uuid');
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** Opens a new database with one account. */
export const openDatabase = async (months: number | null, maxConnections: number): Promise<BenchDatabase> => {
  const cloned = await cloneDatabase();
  const client = new pg.Client({ connectionString: cloned.url });
  await client.connect();
  if (months === null) await unpartition(client, cloned.url);
  else if (months > 0) await makePastMonths(client, new Date(), months);
  const accountId = newUuid();
  await client.query(`INSERT INTO account (id, name, plan, created_at) VALUES ($1, 'Bench', 'free', now())`, [
    accountId,
  ]);
  await client.query(
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at) VALUES ($1, 'https://example.com/', '', 'whsec_aa', now())`,
    [accountId],
  );
  await client.end();
  const { db, close } = connectBench(cloned.url, { maxConnections, keepOpen: maxConnections });
  return {
    ...{ months, url: cloned.url, db, accountId },
    close: async () => {
      await close();
      await cloned.drop();
    },
  };
};
