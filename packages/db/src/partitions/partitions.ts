import { query, type Reader } from '../query.js';
import { MAX_ID, NIL } from '../uuid-bounds.js';

/**
 * The tables that are partitioned by month, see docs/decisions/0022. `key`: the time-ordered id. `fillfactor`: of partitions
 * whose rows are updated a few times.
 */
export const PARTITIONED = {
  request: { key: 'id', fillfactor: 70 },
  exchange: { key: 'request_id', fillfactor: 100 },
  check: { key: 'id', fillfactor: 100 },
  event: { key: 'id', fillfactor: 100 },
  delivery: { key: 'id', fillfactor: 70 },
  delivery_attempt: { key: 'delivery_id', fillfactor: 100 },
  anchor_leaf: { key: 'check_id', fillfactor: 100 },
  usage_entry: { key: 'check_id', fillfactor: 100 },
} as const;

export type PartitionedTable = keyof typeof PARTITIONED;

/** A partition with the range of its ids: from `from` (inclusive) to `to` (exclusive). */
export type Partition = { name: string; from: string; to: string };

/** A partition in SQL. They are in a schema of their own. */
export const partition = (name: string): string => `partitions."${name}"`;

/** The partitions of a table, earliest first. The first one begins at {@link NIL}, the last one ends at {@link MAX_ID}. */
export const listPartitions = async (db: Reader, table: PartitionedTable): Promise<Partition[]> => {
  const rows = await query(db, { name: 'text', range: 'text' })`
    SELECT c.relname::text AS name, pg_get_expr(c.relpartbound, c.oid) AS range
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE i.inhparent = ${`"${table}"`}::regclass`;
  const bound = (range: string, word: 'FROM' | 'TO', unbounded: string): string =>
    new RegExp(`${word} \\('([0-9a-f-]{36})'\\)`).exec(range)?.[1] ?? unbounded;
  return rows
    .map(({ name, range }) => ({ name, from: bound(range, 'FROM', NIL), to: bound(range, 'TO', MAX_ID) }))
    .sort((a, b) => (a.from < b.from ? -1 : 1));
};

/**
 * The end of the ids that are deleted one by one, at most `bound`: where the first month begins that has not expired as a whole.
 * It is dropped once it has.
 */
export const endOfRows = async (db: Reader, table: PartitionedTable, bound: string): Promise<string> => {
  const month = (await listPartitions(db, table)).find(({ from, to }) => from !== NIL && to !== MAX_ID && to > bound);
  return month && month.from < bound ? month.from : bound;
};
