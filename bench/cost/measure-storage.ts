import { connectRedis } from '@vat/queues';
import { until, type World } from '@vat/testkit';

/** Bytes of every table with its indexes, and of the keys in Redis. */
type Reading = { tables: Map<string, number>; rows: Map<string, number>; redis: number };

/** What checks occupy. `tables`: bytes and rows of one check in each table that has some. `job`: bytes of one waiting job in Redis. */
export type StorageFigures = { checks: number; tables: { table: string; rows: number; bytes: number }[]; job: number };

const readRedis = async ({ settings }: World): Promise<number> => {
  const connection = connectRedis(String(settings.REDIS_URL), 'consumer', (error) => console.error(error));
  try {
    await until('Redis', () => connection.status === 'ready');
    return Number(/used_memory:(\d+)/.exec(await connection.info('memory'))?.[1]);
  } finally {
    connection.disconnect();
  }
};

/** Partitions count as their table. */
const read = async (world: World): Promise<Reading> => {
  await world.sql('VACUUM (ANALYZE)');
  const rows = await world.sql<{ name: string; bytes: number; rows: number }>(
    `SELECT COALESCE(pg_partition_root(c.oid), c.oid)::regclass::text AS name,
       sum(pg_total_relation_size(c.oid))::float8 AS bytes, sum(greatest(c.reltuples, 0))::float8 AS rows
     FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r' AND n.nspname !~ '^(pg_|information_schema)' GROUP BY 1`,
  );
  return {
    tables: new Map(rows.map((row) => [row.name, row.bytes])),
    rows: new Map(rows.map((row) => [row.name, row.rows])),
    redis: await readRedis(world),
  };
};

/** Measures what `count` checks of a backlog occupy: its jobs while they wait, and its rows when all are recorded. */
export const measureStorage = (count: number) => {
  let before: Reading | undefined;
  let waiting = Number.NaN;
  return {
    /** Before the backlog is written. */
    begin: async (world: World): Promise<void> => {
      before = await read(world);
    },
    /** When every job is in its queue, and no worker has started. */
    enqueued: async (world: World): Promise<void> => {
      waiting = await readRedis(world);
    },
    /** When every check is recorded. */
    end: async (world: World): Promise<StorageFigures> => {
      const { tables, rows } = await read(world);
      const each = (from: Map<string, number> | undefined, to: Map<string, number>, name: string): number =>
        ((to.get(name) ?? 0) - (from?.get(name) ?? 0)) / count;
      return {
        checks: count,
        tables: [...tables.keys()]
          .map((table) => ({
            table,
            rows: Math.round(each(before?.rows, rows, table) * 100) / 100,
            bytes: Math.round(each(before?.tables, tables, table)),
          }))
          .filter(({ bytes }) => bytes > 0)
          .toSorted((a, b) => b.bytes - a.bytes),
        job: Math.round((waiting - (before?.redis ?? 0)) / count),
      };
    },
  };
};
