import { type Exchange, newUuidAt } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { findEvidence } from '../evidence/export.js';
import { sqlOf } from '../query.js';
import { findCheck, listChecks } from '../request/checks.js';
import { beginLookup, markLookupStarted, storeLookup } from '../request/lookups.js';
import { findRequest } from '../request/requests.js';
import { endRequest, settleRequest } from '../request/settle-request.js';
import { testDatabase } from '../test-database.fixture.js';
import { findDelivery, listDeliveries } from '../webhook/deliveries.js';
import { claimDelivery, recordAttempt } from '../webhook/delivery-attempts.js';
import { maintainPartitions } from './maintain-partitions.js';

const connected = testDatabase(1);
const YEAR = new Date().getUTCFullYear() + 1;
/** The middle of a month of next year, so that what belongs together is in one partition. */
const at = (month: number): Date => new Date(Date.UTC(YEAR, month - 1, 15));
const ACCOUNT = newUuidAt(at(6));
const READER = { accountId: ACCOUNT, testOnly: false };
const CHECKS_A_MONTH = 50;

beforeAll(async () => {
  await maintainPartitions(connected.url)(at(9), { evidenceBefore: new Date(0), deliveriesBefore: new Date(0) });
  for (let month = 5; month <= 9; month += 1) {
    const ids = Array.from({ length: CHECKS_A_MONTH }, () => newUuidAt(at(month)));
    await connected.db.$executeRaw`
      INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
      SELECT id, ${ACCOUNT}::uuid, id, false, 'DE1', true, ${at(month)}::timestamptz, '', sha256('') FROM unnest(${ids}::uuid[]) AS id`;
    await connected.db.$executeRaw`
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      SELECT id, ${ACCOUNT}::uuid, 'check.completed', id, '{}', false, ${at(month)}::timestamptz FROM unnest(${ids}::uuid[]) AS id`;
    await connected.db.$executeRaw`
      INSERT INTO delivery (id, account_id, event_id, state, created_at)
      SELECT id, ${ACCOUNT}::uuid, id, 'successful', ${at(month)}::timestamptz FROM unnest(${ids}::uuid[]) AS id`;
  }
  await connected.db.$executeRaw`ANALYZE`;
});

type Node = { 'Node Type': string; 'Relation Name'?: string; 'Actual Loops'?: number; Plans?: Node[] };
const nodesOf = (node: Node): Node[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)];

/** A database that explains statements; `found` are the rows that it returns to the first one. */
const explaining = (options: string, found: unknown[] = []) => {
  const nodes: Node[][] = [];
  const explain = async (text: string, values: unknown[]): Promise<void> => {
    const [row] = await connected.db.$queryRawUnsafe<[{ 'QUERY PLAN': [{ Plan: Node }] }]>(
      `EXPLAIN (FORMAT JSON${options}) ${text}`,
      ...values,
    );
    nodes.push(nodesOf(row['QUERY PLAN'][0].Plan));
  };
  const db = {
    $queryRaw: async (strings: TemplateStringsArray, ...values: unknown[]) => {
      const { text, values: bound } = sqlOf(strings, values);
      await explain(text, bound);
      return nodes.length === 1 ? found : [];
    },
    $executeRaw: async (strings: TemplateStringsArray, ...values: unknown[]) => {
      const { text, values: bound } = sqlOf(strings, values);
      await explain(text, bound);
      return 0;
    },
  };
  return { db: db as unknown as Queryable, nodes };
};

/** The partitions that the nodes read or update, without those of insertions, which are of the table. */
const partitionsOf = (nodes: Node[]): string[] => [
  ...new Set(
    nodes.flatMap((node) => node['Relation Name'] ?? []).filter((name) => /_(initial|future|\d{4}_\d\d)$/.test(name)),
  ),
];

const exchange: Exchange = {
  ...{ source: 'vies', startedAt: at(6), durationMs: 1, response: null, error: 'none' },
  request: { method: 'POST', url: '', headers: {}, body: new Uint8Array() },
};
const event = { id: newUuidAt(at(6)), type: 'check.completed' as const, body: '{}' };
const answer = {
  ...{ verdict: 'valid' as const, name: null, address: null, consultationNumber: null, traderMatch: null },
  answeredAt: at(6).toISOString(),
};
const ID = newUuidAt(at(6));
const CALLS: [string, string[], (db: Queryable) => Promise<unknown>][] = [
  ['the beginning of a lookup', ['request'], (db) => beginLookup(db)(ID, at(6))],
  ['marking a lookup', ['request'], (db) => markLookupStarted(db)(ID, 0, at(6))],
  [
    'storing a lookup',
    ['request'],
    (db) =>
      storeLookup(db)({
        ...{ requestId: ID, expectedAttempts: 0, exchange, suspend: false, dueAt: at(6) },
        decision: {
          ...{ entries: [], attempts: 1, windowRetries: 0, backgroundRetries: 0, lastError: null, unconfirmed: null },
          ...{ giveUpAt: null, unconfirmedAt: null, numberAlone: false },
          next: { kind: 'settle', answer },
        },
      }),
  ],
  [
    'settling a request',
    ['request'],
    (db) =>
      settleRequest(db)({
        ...{ requestId: ID, entries: [], consumes: true, exchanges: [exchange], event, deliveryId: ID, now: at(6) },
        check: {
          ...{ id: ID, vatNumber: 'DE1', valid: true, reference: null, checkedAt: at(6) },
          ...{ bytes: new Uint8Array(), hash: new Uint8Array(32) },
        },
      }),
  ],
  [
    'ending a request',
    ['request'],
    (db) => endRequest(db)({ requestId: ID, reason: 'UPSTREAM_NO_ANSWER', event, deliveryId: ID, now: at(6) }),
  ],
  ['reading a request with its check', ['request', 'check'], (db) => findRequest(db)(ID)],
  ['reading a check', ['check'], (db) => findCheck(db)(ID, READER)],
  ['reading the evidence of a check', ['anchor_leaf'], (db) => findEvidence(db)([ID])],
  ['reading a delivery', ['delivery'], (db) => findDelivery(db)(ID, READER)],
  [
    'claiming an attempt',
    ['delivery', 'event'],
    (db) => claimDelivery(db)({ deliveryId: ID, number: 1, now: at(6), leasedUntil: at(6) }),
  ],
  [
    'recording an attempt',
    ['delivery'],
    (db) =>
      recordAttempt(db)({
        deliveryId: ID,
        attempt: {
          ...{ number: 1, at: at(6), url: '', statusCode: 204, durationMs: 1, error: null, address: null },
          timings: { dns_ms: null, tcp_ms: null, tls_ms: null, first_byte_ms: null, total_ms: 1 },
          ...{ answer: new Uint8Array(), answerTruncated: false },
        },
        plan: { state: 'successful', nextAttemptAt: null },
        leasedUntil: at(6),
      }),
  ],
];

test.each(CALLS)('%s touches the partition of its month alone', async (_name, tables, call) => {
  const { db, nodes } = explaining('');
  await call(db);
  expect(partitionsOf(nodes[0] ?? []).toSorted()).toEqual(tables.map((table) => `${table}_${YEAR}_06`).toSorted());
});

const SELECTED = Array.from({ length: 20 }, () => ({ id: newUuidAt(at(9)), eventId: newUuidAt(at(9)) }));

test.each([
  ['checks', 'check', (db: Queryable) => listChecks(db)(READER, {}, null, 20)],
  ['the next page of checks', 'check', (db: Queryable) => listChecks(db)(READER, {}, newUuidAt(at(7)), 20)],
  ['deliveries', 'delivery', (db: Queryable) => listDeliveries(db)(READER, {}, null, 20)],
] as const)('a list of %s stops in the newest partition with a page of rows', async (_name, table, call) => {
  const { db, nodes } = explaining(', ANALYZE', SELECTED);
  await call(db);
  const [list = [], ...later] = nodes;
  expect(list.map((node) => node['Node Type'])).not.toContain('Sort');
  expect(list.map((node) => node['Node Type'])).not.toContain('Merge Append');
  const started = list.filter((node) => node['Actual Loops'] !== 0);
  const read = partitionsOf(started).filter((name) => name.startsWith(table));
  // Younger partitions are empty. The month of the page has more rows than the page.
  expect(read.at(-1)).toMatch(_name.startsWith('the next') ? /_0[67]$/ : /_09$/);
  expect(read.length).toBeLessThanOrEqual(5);
  for (const nodesOfEvents of later) expect(partitionsOf(nodesOfEvents)).toEqual([`event_${YEAR}_09`]);
});
