import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectDatabase, type Database, migrate } from '@vat/db';
import { newUuid } from '@vat/domain';
import { cloneDatabase } from '@vat/testkit';
import pg from 'pg';

const MIGRATIONS = fileURLToPath(new URL('../../prisma/migrations', import.meta.url));
/** The migrations that partition the tables. */
const OF_PARTITIONS = /^202611231\d{5}_/;
const KEYS = {
  ...{ request: 'id', exchange: 'request_id', check: 'id', event: 'id', delivery: 'id' },
  ...{ delivery_attempt: 'delivery_id', anchor_leaf: 'check_id', usage_entry: 'check_id' },
};
/** Deliveries are stored for 90 days. */
const DELIVERY_MONTHS = 4;

/** A database with one account. `months`: partitions before the current one; null for tables without partitions. */
export type BenchDatabase = {
  months: number | null;
  url: string;
  db: Database;
  accountId: string;
  close: () => Promise<void>;
};

export const idAt = (time: number): string => {
  const hex = time.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};
/** The start of a month, `ago` months before the current one. */
export const monthStart = (ago: number): number => {
  const now = new Date();
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1);
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

/** Makes partitions for months of the past, as in a service that has run for so long. */
const makePast = async (client: pg.Client, months: number): Promise<void> => {
  for (const [table, key] of Object.entries(KEYS)) {
    const count = key === 'delivery_id' || table === 'delivery' ? Math.min(months, DELIVERY_MONTHS) : months;
    const { rows } = await client.query(
      `SELECT pg_get_expr(relpartbound, oid) AS range FROM pg_class WHERE oid = 'partitions."${table}_initial"'::regclass`,
    );
    const end = /TO \('([^']+)'\)/.exec(rows[0].range)?.[1];
    await client.query(`ALTER TABLE "${table}" DETACH PARTITION partitions."${table}_initial"`);
    for (let ago = count; ago >= 0; ago -= 1)
      await client.query(
        `CREATE TABLE partitions."${table}_ago_${ago}" PARTITION OF "${table}"
           FOR VALUES FROM ('${idAt(monthStart(ago))}') TO ('${ago === 0 ? end : idAt(monthStart(ago - 1))}')`,
      );
    await client.query(
      `ALTER TABLE "${table}" ATTACH PARTITION partitions."${table}_initial" FOR VALUES FROM (MINVALUE) TO ('${idAt(monthStart(count))}')`,
    );
  }
};

/** Opens a new database with one account. */
export const openDatabase = async (months: number | null, maxConnections: number): Promise<BenchDatabase> => {
  const cloned = await cloneDatabase();
  const client = new pg.Client({ connectionString: cloned.url });
  await client.connect();
  if (months === null) await unpartition(client, cloned.url);
  else if (months > 0) await makePast(client, months);
  const accountId = newUuid();
  await client.query(`INSERT INTO account (id, name, plan, created_at) VALUES ($1, 'Bench', 'free', now())`, [
    accountId,
  ]);
  await client.query(
    `INSERT INTO webhook (account_id, url, secret_sealed, secret_prefix, configured_at) VALUES ($1, 'https://example.com/', '', 'whsec_aa', now())`,
    [accountId],
  );
  await client.end();
  const { db, close } = connectDatabase({
    ...{ url: cloned.url, maxConnections, keepOpen: maxConnections, applicationName: 'vat-bench' },
    ...{ queryTimeoutMs: 30_000, connectTimeoutMs: 10_000 },
  });
  return {
    ...{ months, url: cloned.url, db, accountId },
    close: async () => {
      await close();
      await cloned.drop();
    },
  };
};
