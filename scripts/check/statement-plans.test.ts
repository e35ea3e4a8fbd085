import { PLANNER_COSTS } from '@vat/db';
import {
  type ClonedDatabase,
  cloneDatabase,
  FILLED_DAYS,
  type FilledIds,
  faultSize,
  fillDatabase,
  GROWING_TABLES,
  isFullSize,
} from '@vat/testkit';
import pg from 'pg';
import { type Explained, explainDatabase } from './explain-database.mjs';
import { type Allowance, planFaults } from './plan-faults.mjs';
import { statementCalls } from './statement-calls.mjs';
import { NOWHERE, placeIn } from './statement-samples.mjs';
import { findSites, statementAt } from './statement-sites.mjs';

const REQUESTS = faultSize(200_000, 3_000_000);
const TODAY = new Date();
/**
 * The middle of a month. In its first days the partition of a month has so few rows that Postgres reads it as a whole, so the plans
 * would depend on the day of the run.
 */
const NOW = new Date(Date.UTC(TODAY.getUTCFullYear(), TODAY.getUTCMonth() - (TODAY.getUTCDate() > 15 ? 0 : 1), 15, 12));
const START = new Date(NOW.getTime() - FILLED_DAYS * 86_400_000);

/** Tables whose rows are bounded by the number of accounts and users, or are deleted within days. */
const BOUNDED_TABLES = [
  ...['_prisma_migrations', 'account', 'api_key', 'app_user', 'newest_event', 'session', 'sign_in_attempt', 'usage'],
  ...['development_authority', 'download_lease', 'export_lease', 'public_link_key', 'source_search', 'timestamp_root'],
  ...['account_search', 'invitation', 'webhook'],
];

/** What reads more than a page by its nature, by function. */
const ALLOWED: Record<string, Allowance> = {
  auditUsage: {
    buffers: 25_000,
    sorted: 25_000,
    reason: 'a slice of the ledger, and every request that has not ended',
  },
  readWaits: {
    buffers: 5_000,
    sorted: 5_000,
    reason: 'up to 10 000 requests of each member state that wait for a slot, for all calls of some seconds',
  },
  readHours: { buffers: 15_000, sorted: 35_000, reason: 'a month by the hour, for all calls of a minute' },
  readRemaining: { buffers: 1_100, reason: 'the waiting lines of at most five batches of ten thousand' },
  auditBatches: { buffers: 5_000, reason: 'the lines of ten batches' },
  chooseEvidence: { buffers: 5_000, reason: 'what an account requested without result, of which there is little' },
  chooseCovering: { buffers: 150_000, sorted: 10_000, reason: 'the checks of a coverage, at most ten thousand' },
  resendDeliveries: {
    buffers: 150_000,
    sorted: 10_000,
    reason: 'up to ten thousand deliveries, and a thousand new ones a statement',
  },
  createMail: { sorted: 10_000, reason: 'the first of what a mail is about, at most ten thousand things' },
  findDueWatches: { sorted: 5_000, reason: 'accounts take turns: as many watches of each as may run' },
  createWatch: { buffers: 10_000, reason: 'counts the watches of an account, at most 50 000' },
  changeWatch: { buffers: 10_000, reason: 'counts the active watches of an account, at most 50 000' },
};

/** The name of the function of packages/db that a call calls. */
const nameOf = (call: () => unknown): string =>
  /\b(?:db\.|leases\.)\w+(?:\(on\)\.\w+)?/.exec(call.toString())?.[0].replace(/^db\./, '') ?? '';
const names = [...new Set(statementCalls({} as never, NOWHERE).map(nameOf))];

let cloned: ClonedDatabase;
let client: pg.Client;
/** With the planner costs of the service. */
let asService: pg.Client;
let ids: FilledIds;
let tableRows: Map<string, number>;
let partitionKeys: Map<string, string>;
const reached = new Set<string>();

beforeAll(
  async () => {
    cloned = await cloneDatabase();
    ids = await fillDatabase(cloned.url, { requests: REQUESTS, until: NOW });
    const connect = async (settings: Record<string, string>) => {
      const all = { TimeZone: 'UTC', statement_timeout: '60s', jit: 'off', ...settings };
      const options = Object.entries(all).map(([name, value]) => `-c ${name}=${value}`);
      const connection = new pg.Client({ connectionString: cloned.url, options: options.join(' ') });
      await connection.connect();
      return connection;
    };
    [client, asService] = [await connect({}), await connect(PLANNER_COSTS)];
    const { rows } = await client.query<{ relname: string; reltuples: number }>(
      'SELECT relname, reltuples FROM pg_class',
    );
    tableRows = new Map(rows.map(({ relname, reltuples }) => [relname, reltuples]));
    const { rows: partitions } = await client.query<{ name: string; key: string }>(
      `SELECT c.relname AS name, a.attname AS key FROM pg_partitioned_table t
       JOIN pg_attribute a ON a.attrelid = t.partrelid AND a.attnum = t.partattrs[0]
       JOIN pg_inherits i ON i.inhparent = t.partrelid JOIN pg_class c ON c.oid = i.inhrelid`,
    );
    partitionKeys = new Map(partitions.map(({ name, key }) => [name, key]));
  },
  faultSize(120_000, 900_000),
);
afterAll(async () => {
  await client?.end();
  await asService?.end();
  await cloned?.drop();
});

const sites = findSites('packages/db/src');

/** Runs the calls of a function, each in a transaction that is rolled back. */
const explainAll = async (name: string, connection: pg.Client): Promise<Explained[]> => {
  const explained: Explained[] = [];
  const on = explainDatabase(connection, (one) => explained.push(one));
  const calls = statementCalls(on, placeIn(ids, START, NOW)).filter((call) => nameOf(call) === name);
  for (const call of calls) {
    await connection.query('BEGIN');
    try {
      await call();
    } finally {
      await connection.query('ROLLBACK');
    }
  }
  return explained;
};

/** What in the plans of a function grows with the tables, or can end Postgres. */
const findFaults = async (name: string, connection: pg.Client): Promise<string[]> => {
  const explained = await explainAll(name, connection);
  for (const { site } of explained) reached.add(statementAt(sites, site));
  const faults = explained.flatMap(({ site, mode, plan, text }) =>
    (plan === null ? [] : planFaults(plan, tableRows, partitionKeys, ALLOWED[name])).map(
      (fault) => `${site} (${mode} plan) ${fault}: ${text.replace(/\s+/g, ' ')}`,
    ),
  );
  return [...new Set(faults)];
};

test.each(names)('%s costs the same in a large database', async (name) => {
  expect(await findFaults(name, client)).toEqual([]);
  // The allowances are for plans with the costs of Postgres. In the full-size run the calls above leave thousands of rows that
  // were rolled back, whose pages would count.
  if (!(name in ALLOWED) && !isFullSize()) expect(await findFaults(name, asService)).toEqual([]);
});

test('every table is filled, or bounded by something else than the use of the service', async () => {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class
     WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  expect(rows.map(({ name }) => name)).toEqual([...GROWING_TABLES, ...BOUNDED_TABLES].toSorted());
});

test('every statement is explained', () => {
  expect(sites.filter((site) => !reached.has(site))).toEqual([]);
});
