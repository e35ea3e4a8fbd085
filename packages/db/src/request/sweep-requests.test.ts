import { randomUUID } from 'node:crypto';
import { newUuid } from '@vat/domain';
import { sqlOf } from '../query.js';
import { testDatabase } from '../test-database.fixture.js';
import { overdueRequests, releaseOrphans, requestsToAbandon } from './sweep-requests.js';

const connected = testDatabase(2);

const AT = new Date('2026-11-20T10:00:00.000Z');
const COMPLETED = 20_000;
/** The partition of the requests of these tests; the others are empty. */
const PARTITION = 'request_initial';

type Plan = { 'Node Type': string; 'Relation Name'?: string; Plans?: Plan[] };
const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

type Explained = { $queryRaw: <T>() => Promise<T>; $transaction: <T>(work: (tx: Explained) => T) => T };
/** How the statements of `run` read the table of requests. */
const readsOfRequest = async (run: (db: Explained) => Promise<unknown>): Promise<string[]> => {
  const plans: Plan[] = [];
  const explain = async (strings: TemplateStringsArray | ReturnType<typeof sqlOf>, ...values: unknown[]) => {
    const { text, values: bound } = sqlOf(strings, values);
    const [row] = await connected.db.$queryRawUnsafe<[{ 'QUERY PLAN': [{ Plan: Plan }] }]>(
      `EXPLAIN (FORMAT JSON) ${text}`,
      ...bound,
    );
    plans.push(row['QUERY PLAN'][0].Plan);
    return [];
  };
  const db: Explained = { $queryRaw: explain as <T>() => Promise<T>, $transaction: (work) => work(db) };
  await run(db);
  return plans
    .flatMap(nodesOf)
    .filter((node) => node['Relation Name'] === PARTITION)
    .map((node) => node['Node Type']);
};

beforeAll(async () => {
  const { db } = connected;
  const account = randomUUID();
  await db.$executeRaw`INSERT INTO account (id, name, plan, created_at) VALUES (${account}::uuid, 'Old', 'free', ${AT}::timestamptz)`;
  await db.$executeRaw`
    INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
      window_ends_at, due_at, ended_at)
    SELECT id, ${account}::uuid, false, 'withdrawn', 'DE' || n, 'DE', n::text, 'DE' || n, '[]',
      ${AT}::timestamptz, ${AT}::timestamptz, ${AT}::timestamptz, ${AT}::timestamptz
    FROM unnest(${Array.from({ length: COMPLETED }, newUuid)}::uuid[]) WITH ORDINALITY AS r(id, n)`;
  await db.$executeRaw`ANALYZE request`;
});

test.each([
  ['overdue requests', (db) => overdueRequests(db)(AT, null, 500)],
  ['requests to abandon', (db) => requestsToAbandon(db)(AT, 500)],
  [
    'requests whose caller was lost',
    (db) => releaseOrphans(db)({ createdBefore: AT, now: AT, giveUpAt: { live: AT, test: AT }, maxPending: 200 }),
  ],
] satisfies [string, (db: never) => Promise<unknown>][])(
  'the sweep finds %s without reading ended requests',
  async (_name, run) => {
    const reads = await readsOfRequest(run as Parameters<typeof readsOfRequest>[0]);
    expect(reads.length).toBeGreaterThan(0);
    expect(reads).not.toContain('Seq Scan');
  },
);
