import { DAY_MS, monthId, timeOfId } from '../uuid-bounds.js';
import type { Ddl } from './ddl.js';
import { listPartitions, PARTITIONED, type Partition, type PartitionedTable, partition } from './partitions.js';

/** Months that are made ahead of the current one, once the next one is missing. */
const MONTHS_AHEAD = 3;
/** Ids beyond this are not of this service's clocks. */
const MAX_AHEAD_MS = 40 * DAY_MS;

/** The month of an id, such as `2027_01`. */
const nameOfMonth = (id: string): string => timeOfId(id).toISOString().slice(0, 7).replace('-', '_');

/** The months between two ids that are the lowest of their month, with names such as `2027_01`. */
const monthsBetween = (from: string, to: string): { name: string; from: string; to: string }[] => {
  const months: { name: string; from: string; to: string }[] = [];
  for (let start = from; start < to; start = monthId(timeOfId(start), 1))
    months.push({ name: nameOfMonth(start), from: start, to: monthId(timeOfId(start), 1) });
  return months;
};

const createLike = ({ run }: Ddl, table: PartitionedTable, name: string) =>
  run(
    `CREATE TABLE ${partition(name)} (LIKE "${table}" INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING INDEXES INCLUDING STORAGE)
     WITH (fillfactor = ${PARTITIONED[table].fillfactor})`,
  );
const attach = ({ run }: Ddl, table: PartitionedTable, { name, from, to }: Partition) =>
  run(`ALTER TABLE "${table}" ATTACH PARTITION ${partition(name)} FOR VALUES FROM ('${from}') TO ('${to}')`);
const attachLast = ({ run }: Ddl, table: PartitionedTable, name: string, from: string) =>
  run(`ALTER TABLE "${table}" ATTACH PARTITION ${partition(name)} FOR VALUES FROM ('${from}') TO (MAXVALUE)`);

/** Moves the beginning of the last partition, which is empty, to `until`, and makes the months in between. */
const splitEmpty = (ddl: Ddl, table: PartitionedTable, last: Partition, until: string): Promise<string[]> =>
  ddl.atOnce(async () => {
    const months = monthsBetween(last.from, until).map((month) => ({ ...month, name: `${table}_${month.name}` }));
    for (const { name } of months) await createLike(ddl, table, name);
    await ddl.run(`LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`);
    await ddl.run(`ALTER TABLE "${table}" DETACH PARTITION ${partition(last.name)}`);
    for (const month of months) await attach(ddl, table, month);
    // Reads the partition, so that a row that came in between makes the transaction fail.
    await attachLast(ddl, table, last.name, until);
    return months.map(({ name }) => name);
  });

/**
 * Ends the last partition, which has rows because no months were made for a while, at the beginning of a month to come, and
 * puts an empty one behind it. Its rows stay where they are. A constraint proves the bound beforehand, while the service runs.
 */
const endCrowded = async (ddl: Ddl, table: PartitionedTable, last: Partition, now: Date): Promise<string[]> => {
  const { key } = PARTITIONED[table];
  const to = monthId(now, 2);
  const [name, following] = [`${table}_${nameOfMonth(last.from)}`, `${table}_following`];
  await ddl.atOnce(async () => {
    await ddl.run(`ALTER TABLE ${partition(last.name)} DROP CONSTRAINT IF EXISTS partition_bound`);
    await ddl.run(
      `ALTER TABLE ${partition(last.name)} ADD CONSTRAINT partition_bound CHECK ("${key}" < '${to}') NOT VALID`,
    );
  });
  // Reads all its rows, for minutes if there are many. No other statement waits for that.
  await ddl.atLength(() => ddl.run(`ALTER TABLE ${partition(last.name)} VALIDATE CONSTRAINT partition_bound`));
  await ddl.atOnce(async () => {
    await createLike(ddl, table, following);
    await ddl.run(`LOCK TABLE "${table}" IN ACCESS EXCLUSIVE MODE`);
    await ddl.run(`ALTER TABLE "${table}" DETACH PARTITION ${partition(last.name)}`);
    await ddl.run(`ALTER TABLE ${partition(last.name)} RENAME TO "${name}"`);
    await ddl.run(`ALTER TABLE ${partition(following)} RENAME TO "${last.name}"`);
    await attach(ddl, table, { name, from: last.from, to });
    await attachLast(ddl, table, last.name, to);
    await ddl.run(`ALTER TABLE ${partition(name)} DROP CONSTRAINT partition_bound`);
  });
  return [name];
};

/**
 * Makes the months of a table up to {@link MONTHS_AHEAD}, unless the next one is there: all connections read the catalogue
 * again after that. Returns the new partitions.
 */
export const makeMonths = async (ddl: Ddl, table: PartitionedTable, now: Date): Promise<string[]> => {
  const { key } = PARTITIONED[table];
  const until = monthId(now, MONTHS_AHEAD + 1);
  const made: string[] = [];
  const last = async () => (await listPartitions(ddl.reader, table)).at(-1);
  let ahead = await last();
  const highest =
    ahead && (await ddl.run(`SELECT "${key}" AS id FROM ${partition(ahead.name)} ORDER BY 1 DESC LIMIT 1`)).rows[0];
  if (ahead && highest) {
    if (timeOfId(highest.id).getTime() > now.getTime() + MAX_AHEAD_MS)
      throw new Error(`table ${table} has ids of the future (${highest.id}), so no partitions can be made for it`);
    made.push(...(await endCrowded(ddl, table, ahead, now)));
    ahead = await last();
  }
  if (ahead && ahead.from < (made.length > 0 ? until : monthId(now, 2)))
    made.push(...(await splitEmpty(ddl, table, ahead, until)));
  return made;
};
