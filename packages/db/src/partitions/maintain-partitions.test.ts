import { auditedFrom, newUuid, newUuidAt } from '@vat/domain';
import { type ClonedDatabase, cloneDatabase, openTcpProxy, until } from '@vat/testkit';
import type { ConnectedDatabase, Database } from '../connect-database.js';
import { deleteOldEvidence, eraseAccount } from '../evidence/retention.js';
import { connectTo } from '../test-database.fixture.js';
import { idAt, NIL } from '../uuid-bounds.js';
import { deleteOldDeliveries } from '../webhook/delivery-retention.js';
import { connectDdl } from './ddl.js';
import { maintainPartitions } from './maintain-partitions.js';
import { listPartitions, PARTITIONED, type PartitionedTable } from './partitions.js';

let cloned: ClonedDatabase;
let connected: ConnectedDatabase;
let db: Database;
beforeEach(async () => {
  cloned = await cloneDatabase();
  connected = connectTo(cloned.url, 5);
  ({ db } = connected);
});
afterEach(async () => {
  await connected?.close();
  await cloned?.drop();
});

const TABLES = Object.keys(PARTITIONED) as PartitionedTable[];
const NEVER = { evidenceBefore: new Date(0), deliveriesBefore: new Date(0) };
const YEAR_MS = 365 * 86_400_000;
const NOW = new Date();
/**
 * A point in time in a month after the migration, the first of them so late that months are complete, and so early that few are
 * made.
 */
const at = (month: number, day = 10): Date =>
  new Date(Date.UTC(NOW.getUTCFullYear(), NOW.getUTCMonth() + 4 + month, day));
const nameOf = (table: string, month: number): string =>
  `${table}_${at(month).toISOString().slice(0, 7).replace('-', '_')}`;

/** Makes months, as in a service that runs from the migration on, up to `now`. */
const runUntil = async (now: Date): Promise<void> => {
  const result = await maintainPartitions(cloned.url)(now, NEVER);
  expect(result.failures).toEqual([]);
};
const placeOf = async (table: string, key: string, id: string): Promise<string | undefined> => {
  const [row] = await db.$queryRawUnsafe<{ place: string }[]>(
    `SELECT replace(tableoid::regclass::text, 'partitions.', '') AS place FROM "${table}" WHERE ${key} = '${id}'`,
  );
  return row?.place;
};
const countOf = async (table: string): Promise<number> => {
  const [row] = await db.$queryRawUnsafe<{ n: number }[]>(`SELECT count(*)::int AS n FROM "${table}"`);
  return row?.n ?? -1;
};

/** A request with everything that belongs to it, recorded at a point in time. */
const insertCheck = async (moment: Date, { live = false, checkAt = moment, delivery = 'successful' } = {}) => {
  const [requestId, checkId, eventId, deliveryId] = [
    newUuidAt(moment),
    newUuidAt(checkAt),
    newUuidAt(moment),
    newUuidAt(moment),
  ];
  const account = newUuid();
  await db.$executeRaw`
    WITH r AS (
      INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
        window_ends_at, due_at, check_id)
      VALUES (${requestId}::uuid, ${account}::uuid, false, ${live ? 'pending' : 'completed'}, 'DE1', 'DE', '1', 'DE1', '[]',
        ${moment}, ${moment}, ${moment}, CASE WHEN ${live} THEN NULL ELSE ${checkId}::uuid END)
    ), c AS (
      INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
      SELECT ${checkId}::uuid, ${account}::uuid, ${requestId}::uuid, false, 'DE1', true, ${checkAt}::timestamptz, '', sha256('')
      WHERE NOT ${live}
    ), l AS (
      INSERT INTO anchor_leaf (check_id, hash) SELECT ${checkId}::uuid, sha256('') WHERE NOT ${live}
    ), u AS (
      INSERT INTO usage_entry (check_id, account_id, period, consumed_at)
      SELECT ${checkId}::uuid, ${account}::uuid, '2026-11', ${moment}::timestamptz WHERE NOT ${live}
    ), s AS (
      INSERT INTO stamp (subject_id, kind, account_id, digest, requested_at, next_attempt_at)
      SELECT ${checkId}::uuid, 'check', ${account}::uuid, '', ${moment}::timestamptz, ${moment}::timestamptz WHERE NOT ${live}
    ), x AS (
      INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body,
        request_sha256, complete)
      VALUES (${newUuid()}::uuid, ${requestId}::uuid, 'vies', ${moment}, 1, 'POST', '', '{}', '', '', false)
    ), e AS (
      INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
      VALUES (${eventId}::uuid, ${account}::uuid, 'check.completed', ${requestId}::uuid, '{}', false, ${moment})
    ), d AS (
      INSERT INTO delivery (id, account_id, event_id, state, created_at, next_attempt_at)
      VALUES (${deliveryId}::uuid, ${account}::uuid, ${eventId}::uuid, ${delivery}, ${moment},
        CASE WHEN ${delivery} = 'pending' THEN ${moment}::timestamptz END)
    )
    INSERT INTO delivery_attempt (delivery_id, number, at, url, duration_ms, timings, answer, answer_truncated)
    VALUES (${deliveryId}::uuid, 1, ${moment}, '', 1, '{}', '', false)`;
  return { requestId, checkId, eventId, deliveryId, account };
};

test('months are made ahead, without a gap, and rows go to the month of their id', async () => {
  await runUntil(at(1));
  for (const table of TABLES) {
    const partitions = await listPartitions(db, table);
    expect(partitions[0]?.from).toBe(NIL);
    for (const [n, { to }] of partitions.slice(0, -1).entries()) expect(partitions[n + 1]?.from).toBe(to);
    expect(partitions.slice(-2).map(({ name }) => name)).toEqual([nameOf(table, 4), `${table}_future`]);
  }
  const { requestId, checkId, deliveryId } = await insertCheck(at(2));
  expect(await placeOf('request', 'id', requestId)).toBe(nameOf('request', 2));
  expect(await placeOf('exchange', 'request_id', requestId)).toBe(nameOf('exchange', 2));
  expect(await placeOf('anchor_leaf', 'check_id', checkId)).toBe(nameOf('anchor_leaf', 2));
  expect(await placeOf('delivery_attempt', 'delivery_id', deliveryId)).toBe(nameOf('delivery_attempt', 2));
  expect(await maintainPartitions(cloned.url)(at(1), NEVER)).toEqual({
    ...{ made: [], dropped: [], left: false, failures: [] },
  });
  const indexes = await db.$queryRaw<{ n: number }[]>`
    SELECT DISTINCT count(*)::int AS n FROM pg_inherits i JOIN pg_index x ON x.indrelid = i.inhrelid
    WHERE i.inhparent = 'request'::regclass GROUP BY i.inhrelid`;
  expect(indexes).toHaveLength(1);
});

test('rows of months without maintenance are stored, and the next run puts an end to their partition', async () => {
  await runUntil(at(1));
  const early = await insertCheck(at(5));
  const late = await insertCheck(at(8));
  expect(await placeOf('request', 'id', late.requestId)).toBe('request_future');
  const inserting = Promise.all(Array.from({ length: 20 }, () => insertCheck(at(8, 11))));
  await runUntil(at(8));
  await inserting;
  expect(await placeOf('request', 'id', early.requestId)).toBe(nameOf('request', 5));
  expect(await placeOf('request', 'id', late.requestId)).toBe(nameOf('request', 5));
  const [partition] = (await listPartitions(db, 'request')).filter(({ name }) => name === nameOf('request', 5));
  expect(partition).toMatchObject({ from: idAt(at(5, 1)), to: idAt(at(10, 1)) });
  expect((await listPartitions(db, 'request')).at(-1)).toMatchObject({ name: 'request_future', from: idAt(at(12, 1)) });
  expect([await countOf('request'), await countOf('check'), await countOf('exchange')]).toEqual([22, 22, 22]);
});

test('runs at the same moment change partitions one after the other', async () => {
  await runUntil(at(1));
  await insertCheck(at(5));
  await insertCheck(at(8));
  const runs = await Promise.all([1, 2, 3].map(() => maintainPartitions(cloned.url)(at(8), NEVER)));
  expect(runs.flatMap(({ failures }) => failures)).toEqual([]);
  expect(runs.filter(({ made }) => made.length > 0)).toHaveLength(1);
  // The last partition of each table takes what comes, should there be no maintenance again.
  const { requestId } = await insertCheck(at(12));
  expect(await placeOf('request', 'id', requestId)).toBe('request_future');
});

test('a process that works on partitions is waited for, and one that stands still holds nobody up', async () => {
  const proxy = await openTcpProxy({ to: new URL(cloned.url).host });
  const turns = { turnMs: 2_500, endMs: 1_000, heartbeatMs: 200 };
  const ddl = await connectDdl(proxy.through(cloned.url), turns);
  try {
    await expect(connectDdl(cloned.url, turns)).rejects.toThrow('another process is changing partitions');
    const changing = ddl.atOnce(async () => {
      await ddl.run('LOCK TABLE "request" IN ACCESS EXCLUSIVE MODE');
      proxy.freeze();
      await runUntil(at(1));
      expect((await listPartitions(db, 'request')).map(({ name }) => name)).toContain(nameOf('request', 4));
      proxy.thaw();
      await ddl.run('LOCK TABLE "request" IN ACCESS EXCLUSIVE MODE');
    });
    await expect(changing).rejects.toThrow(/closed|terminat/);
    await expect(ddl.run('SELECT')).rejects.toThrow();
  } finally {
    await ddl.close();
    await proxy.close();
  }
});

test('a partition with many rows is read to its end, whatever time limit the role has', async () => {
  await runUntil(at(1));
  await insertCheck(at(5));
  const name = new URL(cloned.url).pathname.slice(1);
  for (const sql of [
    'CREATE TABLE seen (statement_timeout text)',
    `CREATE FUNCTION note() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
       IF current_query() LIKE '%VALIDATE CONSTRAINT%' THEN INSERT INTO seen VALUES (current_setting('statement_timeout')); END IF;
     END $$`,
    'CREATE EVENT TRIGGER note ON ddl_command_start EXECUTE FUNCTION note()',
    `ALTER DATABASE "${name}" SET statement_timeout = '1min'`,
  ])
    await db.$executeRawUnsafe(sql);
  await runUntil(at(8));
  expect(await db.$queryRaw`SELECT DISTINCT statement_timeout FROM seen`).toEqual([{ statement_timeout: '0' }]);
});

test('an id of the future is stored, and reported because no further month can be made', async () => {
  await runUntil(at(1));
  await insertCheck(at(11));
  const { made, failures } = await maintainPartitions(cloned.url)(at(6), NEVER);
  expect(made).toEqual([]);
  expect(failures.map(String)).toContainEqual(expect.stringMatching(/table request has ids of the future/));
  await insertCheck(at(6));
  expect(await countOf('request')).toBe(2);
});

describe('expired months', () => {
  const expiredBefore = (moment: Date) => ({ evidenceBefore: moment, deliveriesBefore: moment });
  const whole = (moment: Date) => ({ wholeMonths: true, unitsBefore: moment });

  test('are dropped with everything of their checks but the leaves; months that have not ended before stay', async () => {
    await runUntil(at(1));
    await insertCheck(at(1));
    const young = await insertCheck(at(2));
    const { dropped, failures } = await maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 9)));
    expect(failures).toEqual([]);
    const tables = ['request', 'exchange', 'check', 'usage_entry', 'delivery', 'delivery_attempt', 'event'];
    expect(dropped).toEqual(expect.arrayContaining(tables.map((table) => nameOf(table, 1))));
    expect(dropped.filter((name) => name.startsWith('anchor_leaf'))).toEqual([]);
    for (const table of [...tables, 'stamp']) expect([table, await countOf(table)]).toEqual([table, 1]);
    expect(await countOf('anchor_leaf')).toBe(2);
    expect(await placeOf('request', 'id', young.requestId)).toBe(nameOf('request', 2));
  });

  test('are dropped one partition at a time, where that is said', async () => {
    await runUntil(at(1));
    await insertCheck(at(1));
    const drop = (atMost: number) => maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 9)), { atMost });
    expect(await drop(0)).toMatchObject({ dropped: [], left: true });
    const dropped: string[] = [];
    for (let left = true; left; ) {
      const run = await drop(1);
      expect(run.dropped).toHaveLength(1);
      dropped.push(...run.dropped);
      ({ left } = run);
    }
    expect(dropped.indexOf(nameOf('exchange', 1))).toBeGreaterThan(dropped.indexOf(nameOf('request', 1)));
    for (const table of ['request', 'exchange', 'check', 'event'])
      expect([table, await countOf(table)]).toEqual([table, 0]);
    expect(await drop(1)).toMatchObject({ dropped: [], left: false });
  });

  test('a live request, a check that has not expired and a pending delivery keep their months', async () => {
    await runUntil(at(1));
    await insertCheck(at(1), { live: true });
    await insertCheck(at(1));
    await insertCheck(at(2), { checkAt: at(3, 9) });
    await insertCheck(at(3), { delivery: 'pending' });
    const { dropped } = await maintainPartitions(cloned.url)(at(4), expiredBefore(at(3, 5)));
    expect(dropped).not.toContain(nameOf('request', 1));
    expect(dropped).not.toContain(nameOf('exchange', 1));
    expect(dropped).not.toContain(nameOf('request', 2));
    expect(dropped).toContain(nameOf('check', 2));
    await maintainPartitions(cloned.url)(at(4), expiredBefore(at(4, 1)));
    expect([await countOf('request'), await countOf('exchange')]).toEqual([2, 2]);
    expect(await countOf('check')).toBe(0);
    expect(await countOf('event')).toBe(1);
    expect([await countOf('delivery'), await countOf('delivery_attempt')]).toEqual([1, 1]);
    // What remains in such a month expires row by row.
    expect(await deleteOldEvidence(db)(at(4, 1), undefined, whole(at(4, 1)))).toMatchObject({ requests: 1 });
    expect([await countOf('request'), await countOf('exchange')]).toEqual([1, 1]);
  });

  test('a check of the month after that of its request goes with the request', async () => {
    await runUntil(at(1));
    const [last, first] = [new Date(at(2, 1).getTime() - 2_000), new Date(at(2, 1).getTime() + 1_000)];
    await insertCheck(last, { checkAt: first });
    await insertCheck(at(2, 1));
    const { dropped, failures } = await maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 9)));
    expect([failures, dropped]).toEqual([[], expect.arrayContaining([nameOf('request', 1)])]);
    expect(dropped).not.toContain(nameOf('check', 2));
    // The other one has its request, and expires with it.
    for (const table of ['request', 'check', 'stamp']) expect([table, await countOf(table)]).toEqual([table, 1]);
  });

  test('a check whose request was dropped is erased with its account', async () => {
    await runUntil(at(1));
    const { requestId, account } = await insertCheck(at(1));
    await db.$executeRaw`DELETE FROM request WHERE id = ${requestId}::uuid`;
    await db.$executeRaw`
      INSERT INTO account (id, name, plan, created_at, disabled_at)
      VALUES (${account}::uuid, 'Erased', 'free', ${at(1)}, ${at(1)})`;
    expect(await eraseAccount(db)(account, at(2), at(2))).toMatchObject({ kind: 'erased' });
    for (const table of ['check', 'stamp', 'event']) expect([table, await countOf(table)]).toEqual([table, 0]);
  });

  test('a request that ended late keeps its month until that has expired', async () => {
    await runUntil(at(1));
    const last = new Date(at(2, 1).getTime() - 60_000);
    const { requestId } = await insertCheck(last);
    await db.$executeRaw`
      UPDATE request SET state = 'abandoned', check_id = NULL, ended_at = ${at(2, 8)} WHERE id = ${requestId}::uuid`;
    const early = await maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 7)));
    expect(early.dropped).not.toContain(nameOf('request', 1));
    const late = await maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 9)));
    expect(late.dropped).toContain(nameOf('request', 1));
  });

  test('an event that is resent while its month is about to be dropped keeps it', async () => {
    await runUntil(at(1));
    const { eventId } = await insertCheck(at(1));
    const drop = () => maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 9)));
    const dropping = await db.$transaction(async (tx) => {
      await tx.$executeRaw`
        INSERT INTO delivery (id, account_id, event_id, state, created_at, next_attempt_at)
        VALUES (${newUuidAt(at(3))}::uuid, ${newUuid()}::uuid, ${eventId}::uuid, 'pending', ${at(3)}, ${at(3)})`;
      // On a machine that is too busy for this, the drop gives up before it was seen to wait.
      let ended = false;
      const started = drop().finally(() => {
        ended = true;
      });
      await until('the drop to wait for this transaction', async () => {
        if (ended) return true;
        const [waiting] = await db.$queryRaw<{ n: number }[]>`
          SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted AND relation = 'delivery'::regclass
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
        return (waiting?.n ?? 0) > 0;
      });
      return { started };
    });
    const { dropped } = await dropping.started;
    expect(dropped).toContain(nameOf('check', 1));
    expect(dropped).not.toContain(nameOf('event', 1));
    expect(await countOf('event')).toBe(1);
  });

  test('an event is dropped with its deliveries of later months', async () => {
    await runUntil(at(1));
    const { eventId } = await insertCheck(at(1));
    await db.$executeRaw`
      INSERT INTO delivery (id, account_id, event_id, state, created_at)
      VALUES (${newUuidAt(at(3))}::uuid, ${newUuid()}::uuid, ${eventId}::uuid, 'failed', ${at(3)})`;
    await insertCheck(at(3));
    const { dropped, failures } = await maintainPartitions(cloned.url)(at(3), expiredBefore(at(2, 9)));
    expect([failures, dropped]).toEqual([[], expect.arrayContaining([nameOf('event', 1)])]);
    expect([await countOf('event'), await countOf('delivery'), await countOf('delivery_attempt')]).toEqual([1, 1, 1]);
  });

  test('rows of a month that has not expired as a whole are deleted one by one only with a short retention', async () => {
    await runUntil(at(1));
    await insertCheck(at(2, 3));
    const ended = await deleteOldDeliveries(db)(at(2, 9), { wholeMonths: true });
    const evidence = await deleteOldEvidence(db)(at(2, 9), undefined, whole(at(2, 9)));
    expect([ended, evidence]).toEqual([0, { requests: 0, events: 0, changes: 0 }]);
    expect(await deleteOldDeliveries(db)(at(2, 9))).toBe(1);
    expect(await countOf('delivery_attempt')).toBe(0);
    expect(await deleteOldEvidence(db)(at(2, 9))).toMatchObject({ requests: 1 });
    for (const table of ['request', 'exchange', 'check', 'usage_entry', 'event', 'stamp'])
      expect([table, await countOf(table)]).toEqual([table, 0]);
  });

  test('units stay while the audit counts their month, however short evidence is stored', async () => {
    await runUntil(at(1));
    await insertCheck(at(2, 3));
    const rows = { wholeMonths: false, unitsBefore: auditedFrom(at(2, 12)) };
    expect(await deleteOldEvidence(db)(at(2, 9), undefined, rows)).toMatchObject({ requests: 1 });
    expect([await countOf('check'), await countOf('usage_entry')]).toEqual([0, 1]);
    const early = await maintainPartitions(cloned.url)(at(3, 9), expiredBefore(at(3, 5)));
    expect(early.dropped).toContain(nameOf('check', 2));
    expect(await countOf('usage_entry')).toBe(1);
    const late = await maintainPartitions(cloned.url)(at(3, 15), expiredBefore(at(3, 5)));
    expect(late.dropped).toEqual([nameOf('usage_entry', 2)]);
    expect(await countOf('usage_entry')).toBe(0);
  });

  test('the first partition, of the time before, is dropped like the others', async () => {
    await runUntil(at(1));
    await insertCheck(new Date(at(1).getTime() - 5 * YEAR_MS));
    const { dropped } = await maintainPartitions(cloned.url)(at(2), expiredBefore(at(1)));
    expect(dropped).toContain('request_initial');
    expect(await countOf('request')).toBe(0);
  });
});
