import type pg from 'pg';
import type { BackupPartition, BackupTable } from './manifest.js';

/** Bookkeeping of the migrations, which the migrations themselves write. */
const BOOKKEEPING = '_prisma_migrations';

const TABLES = `
  SELECT c.relname AS name,
    ARRAY(SELECT a.attname::text FROM pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
      ORDER BY a.attnum) AS columns,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('schema', s.nspname, 'name', p.relname,
        'bound', pg_get_expr(p.relpartbound, p.oid), 'options', COALESCE(to_jsonb(p.reloptions), '[]')) ORDER BY p.relname)
      FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid JOIN pg_namespace s ON s.oid = p.relnamespace WHERE i.inhparent = c.oid), '[]') AS partitions,
    ARRAY(SELECT DISTINCT r.relname::text FROM pg_constraint k JOIN pg_class r ON r.oid = k.confrelid
      WHERE k.conrelid = c.oid AND k.contype = 'f' AND k.confrelid <> c.oid) AS references
  FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
    AND c.relname <> '${BOOKKEEPING}'
  ORDER BY c.relname`;

const SEQUENCES = `
  SELECT sequencename::text AS name, last_value::text FROM pg_sequences
  WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY 1`;

type DescribedTable = Pick<BackupTable, 'name' | 'columns'> & { partitions: BackupPartition[]; references: string[] };

/** All tables with data, each after those that its foreign keys name. A partitioned table counts as one. */
export const describeTables = async (client: pg.ClientBase): Promise<DescribedTable[]> => {
  const { rows } = await client.query<DescribedTable>(TABLES);
  const ordered: DescribedTable[] = [];
  while (ordered.length < rows.length) {
    const done = new Set(ordered.map(({ name }) => name));
    const next = rows.filter((table) => !done.has(table.name) && table.references.every((name) => done.has(name)));
    if (next.length === 0) throw new Error('the foreign keys of the tables form a cycle');
    ordered.push(...next);
  }
  return ordered;
};

/** Sequences that were used, with their last values. */
export const readSequences = async (client: pg.ClientBase): Promise<{ name: string; last_value: string }[]> =>
  (await client.query<{ name: string; last_value: string }>(SEQUENCES)).rows;

/** The migrations that the database has, in their order; none if it has no tables. */
export const readMigrations = async (client: pg.ClientBase): Promise<{ name: string; checksum: string }[]> => {
  const { rows: known } = await client.query<{ exists: boolean }>(
    `SELECT to_regclass('${BOOKKEEPING}') IS NOT NULL AS exists`,
  );
  if (!known[0]?.exists) return [];
  const { rows } = await client.query<{ name: string; checksum: string }>(
    `SELECT migration_name AS name, checksum FROM ${BOOKKEEPING}
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`,
  );
  return rows;
};
