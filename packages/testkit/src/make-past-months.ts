import type pg from 'pg';

/** The tables that are partitioned by month with their keys, as in packages/db. */
const KEYS = {
  ...{ request: 'id', exchange: 'request_id', check: 'id', event: 'id', delivery: 'id' },
  ...{ delivery_attempt: 'delivery_id', anchor_leaf: 'check_id', usage_entry: 'check_id' },
};
/** Deliveries are stored for 90 days. */
const DELIVERY_MONTHS = 4;

/** The lowest UUIDv7 of a point in time, in milliseconds. */
export const lowestIdAt = (ms: number): string => {
  const hex = ms.toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

/** The start of the month that is `ago` months before the one of `now`, in milliseconds. */
export const startOfMonth = (now: Date, ago: number): number =>
  Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1);

/**
 * Makes partitions for `months` before the current one, as in a service that has run for so long. The database must have been
 * migrated lately, and have no rows.
 */
export const makePastMonths = async (client: pg.Client, now: Date, months: number): Promise<void> => {
  for (const [table, key] of Object.entries(KEYS)) {
    const count = key === 'delivery_id' || table === 'delivery' ? Math.min(months, DELIVERY_MONTHS) : months;
    const initial = `partitions."${table}_initial"`;
    const { rows } = await client.query<{ end: string }>(
      `SELECT substring(pg_get_expr(relpartbound, oid) FROM 'TO \\(''([^'']+)''\\)') AS end FROM pg_class WHERE oid = $1::regclass`,
      [initial],
    );
    await client.query(`ALTER TABLE "${table}" DETACH PARTITION ${initial}`);
    for (let ago = count; ago >= 0; ago -= 1) {
      const from = startOfMonth(now, ago);
      const to = ago === 0 ? rows[0]?.end : lowestIdAt(startOfMonth(now, ago - 1));
      const name = `${table}_${new Date(from).toISOString().slice(0, 7).replace('-', '_')}`;
      await client.query(
        `CREATE TABLE partitions."${name}" PARTITION OF "${table}" FOR VALUES FROM ('${lowestIdAt(from)}') TO ('${to}')`,
      );
    }
    await client.query(
      `ALTER TABLE "${table}" ATTACH PARTITION ${initial} FOR VALUES FROM (MINVALUE) TO ('${lowestIdAt(startOfMonth(now, count))}')`,
    );
  }
};
