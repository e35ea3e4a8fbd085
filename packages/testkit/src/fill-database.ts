import pg from 'pg';
import { fillStatements, GROWING_TABLES } from './large-rows.js';
import { lowestIdAt, makePastMonths } from './make-past-months.js';

export { GROWING_TABLES } from './large-rows.js';

/** The size of a filled database. The other tables are filled in proportion. */
type FillSize = {
  /** Requests, of which nearly all have a check, an anchored leaf, and an entry in the ledger. */
  requests: number;
  /** The rows end here, and begin {@link FILLED_DAYS} days before. Default now. */
  until?: Date;
};

/** Rows of a filled database that statements can be called with. */
export type FilledIds = {
  /** The account with 60 % of all rows. */
  account: string;
  /** An account with one per cent of them. */
  smallAccount: string;
  /** A disabled account with running batches and pending requests. */
  disabledAccount: string;
  /** The user of {@link account}. */
  user: string;
  /** Of {@link account}. */
  check: string;
  request: string;
  /** Accepted and pending. */
  pendingRequest: string;
  /** A caller waits for it. */
  waitingRequest: string;
  /** A line of a running batch that has no job. */
  undispatchedRequest: string;
  malformedRequest: string;
  /** Completed. */
  batch: string;
  runningBatch: string;
  coverage: string;
  delivery: string;
  pendingDelivery: string;
  /** Of {@link account}, with its position. */
  event: string;
  eventPosition: string;
  watch: string;
  /** On its way. */
  mail: string;
  /** Of a run of a watch. */
  watchRequest: string;
  /** The newest, whose time-stamp is pending. */
  anchor: string;
  /** The number of the anchor after it. */
  nextAnchor: number;
  /** A number with few checks, and a reference with many. */
  vatNumber: string;
  reference: string;
};

/** The period that the rows of a filled database are spread over. */
export const FILLED_DAYS = 100;
/** The age of the oldest partition, as of a service that has run for so long. */
const MONTHS = 12;
const DAY_MS = 86_400_000;

/** The statements that run at the same time. */
const CONNECTIONS = 2;
/** Foreign keys are not checked. */
const SESSION = {
  ...{ session_replication_role: 'replica', synchronous_commit: 'off', jit: 'off' },
  ...{ maintenance_work_mem: '256MB', work_mem: '64MB' },
};

type Index = { table: string; name: string; definition: string };

/** The indexes of the large tables that no constraint needs. Those of partitions belong to the index of their table. */
const findIndexes = async (client: pg.Client): Promise<Index[]> => {
  const { rows } = await client.query<Index>(
    `SELECT t.relname AS table, i.indexrelid::regclass::text AS name,
       replace(pg_get_indexdef(i.indexrelid), ' ON ONLY ', ' ON ') AS definition
     FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid LEFT JOIN pg_constraint c ON c.conindid = i.indexrelid AND c.contype IN ('p', 'u', 'x')
     WHERE i.indrelid = ANY($1::regclass[]) AND c.oid IS NULL
     ORDER BY i.indrelid, i.indexrelid`,
    [GROWING_TABLES.map((table) => `"${table}"`)],
  );
  return rows;
};

/** A statement with the table that it changes and those that it reads. */
type Step = { sql: string; writes: string; reads: string[] };

const insertStep = (sql: string): Step => ({
  sql,
  writes: /^\s*INSERT INTO "?(\w+)/.exec(sql)?.[1] ?? '',
  reads: [...sql.matchAll(/\b(?:FROM|JOIN) "?(\w+)/g)].map(([, table]) => table ?? ''),
});

/** Runs statements at the same time, except that each waits for those before it that change a table of it, or read the one it changes. */
const runSteps = async (pool: pg.Pool, steps: readonly Step[]): Promise<void> => {
  const begun: (Step & { ended: Promise<unknown> })[] = [];
  for (const step of steps) {
    const touched = [step.writes, ...step.reads];
    const before = begun.filter(({ writes, reads }) => touched.includes(writes) || reads.includes(step.writes));
    const ended = Promise.all(before.map((other) => other.ended)).then(() => pool.query(step.sql));
    begun.push({ ...step, ended });
  }
  await Promise.all(begun.map(({ ended }) => ended));
};

/** What has not ended is at the end of the order of ids. `$1`: an id in the middle. */
const FIND_IDS = `
  WITH big AS (SELECT id FROM account ORDER BY id LIMIT 1),
    mid AS (
      SELECT c.id, c.request_id, c.vat_number FROM "check" c, big WHERE c.account_id = big.id AND c.id > $1 ORDER BY c.id LIMIT 1
    ), live AS MATERIALIZED (SELECT id, state, origin, fed, answer FROM request WHERE id > $2),
    mid_event AS (
      SELECT e.id, e.position FROM event e, big WHERE e.account_id = big.id AND e.id > $1 ORDER BY e.id LIMIT 1
    )
  SELECT big.id AS account, (SELECT id FROM account WHERE disabled_at IS NULL ORDER BY id DESC LIMIT 1) AS "smallAccount",
    (SELECT id FROM account WHERE disabled_at IS NOT NULL) AS "disabledAccount",
    (SELECT u.id FROM app_user u WHERE u.account_id = big.id) AS "user",
    mid.id AS check, mid.request_id AS request, mid.vat_number AS "vatNumber", 'order-7' AS reference,
    (SELECT id FROM live WHERE state = 'pending' AND origin = 'direct' ORDER BY id LIMIT 1) AS "pendingRequest",
    (SELECT id FROM live WHERE state = 'waiting' ORDER BY id LIMIT 1) AS "waitingRequest",
    (SELECT id FROM live WHERE NOT fed AND answer IS NULL ORDER BY id LIMIT 1) AS "undispatchedRequest",
    (SELECT id FROM live WHERE NOT fed AND answer IS NOT NULL ORDER BY id LIMIT 1) AS "malformedRequest",
    (SELECT id FROM live WHERE origin = 'watch' AND state = 'pending' ORDER BY id LIMIT 1) AS "watchRequest",
    (SELECT b.id FROM batch b WHERE b.account_id = big.id AND state = 'completed' ORDER BY id LIMIT 1) AS batch,
    (SELECT b.id FROM batch b WHERE b.account_id = big.id AND state = 'running') AS "runningBatch",
    (SELECT v.id FROM coverage v WHERE v.account_id = big.id ORDER BY id LIMIT 1) AS coverage,
    (SELECT d.id FROM delivery d WHERE d.account_id = big.id AND d.id > $1 ORDER BY id LIMIT 1) AS delivery,
    (SELECT id FROM delivery WHERE id > $2 AND state = 'pending' AND NOT held ORDER BY id LIMIT 1) AS "pendingDelivery",
    mid_event.id AS event, mid_event.position::text AS "eventPosition",
    (SELECT id FROM watch WHERE account_id = big.id AND request_id IS NULL ORDER BY id LIMIT 1) AS watch,
    (SELECT id FROM mail WHERE state = 'pending') AS mail,
    (SELECT id FROM anchor ORDER BY seq DESC LIMIT 1) AS anchor, (SELECT max(seq) + 1 FROM anchor) AS "nextAnchor"
  FROM big, mid, mid_event`;

/**
 * Fills an empty, migrated database with a service's data of {@link FILLED_DAYS} days: 50 accounts, one of which has 60 % of
 * the rows. The rows are made by Postgres, each table in the order of its ids and several tables at a time, without the secondary
 * indexes, which are built afterwards; foreign keys are not checked. Hashes are not those of the bodies. Needs a superuser.
 */
export const fillDatabase = async (url: string, { requests, until = new Date() }: FillSize): Promise<FilledIds> => {
  const options = Object.entries(SESSION).map(([name, value]) => `-c ${name}=${value}`);
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS, options: options.join(' ') });
  const client = new pg.Client({ connectionString: url, options: options.join(' ') });
  await client.connect();
  try {
    await makePastMonths(client, until, MONTHS);
    const indexes = await findIndexes(client);
    await client.query(`DROP INDEX ${indexes.map(({ name }) => name).join(', ')}`);
    const to = until.getTime();
    const from = to - FILLED_DAYS * DAY_MS;
    await runSteps(pool, [
      ...fillStatements({ requests, from, to }).map(insertStep),
      ...indexes.map(({ table, definition }) => ({ sql: definition, writes: table, reads: [] })),
      ...[...GROWING_TABLES, 'account', 'usage', 'newest_event'].map((table) => ({
        ...{ sql: `VACUUM (ANALYZE) "${table}"`, writes: table, reads: [] },
      })),
    ]);
    const { rows } = await client.query<FilledIds>(FIND_IDS, [lowestIdAt((from + to) / 2), lowestIdAt(to - 60_000)]);
    if (!rows[0]) throw new Error('the filled database is too small');
    return rows[0];
  } finally {
    await pool.end();
    await client.end();
  }
};
