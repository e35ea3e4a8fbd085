import { newUuid, newUuidAt, packPlan, planBatch } from '@vat/domain';
import { auditUsage } from '../account/usage.js';
import { testDatabase } from '../test-database.fixture.js';
import { AT, newAccount, newBatch, numbers, PERIOD, rowsOf } from './batch.fixture.js';
import { queuesToDispatch } from './dispatch-lines.js';
import { completeBatches } from './end-lines.js';
import { insertBatch } from './insert-batch.js';
import { findMalformedLines, type MalformedLine, settleMalformedLines } from './malformed-lines.js';

const connected = testDatabase(10);

const malformed = (count: number) => Array.from({ length: count }, (_, n) => `FR${n}`);
const checkOf = ({ id, vatNumber }: { id: string; vatNumber: string }, checkedAt = AT): MalformedLine => ({
  requestId: id,
  check: {
    id: newUuid(),
    vatNumber,
    valid: false,
    reference: null,
    checkedAt,
    bytes: Buffer.from(`{"of":"${id}"}`),
    hash: Buffer.alloc(32, vatNumber),
  },
});
/** A batch of `count` distinct malformed numbers, and `others`. */
const upload = async (count: number, others: string[] = []) => {
  const account = await newAccount(connected.db);
  const batch = await newBatch(account, rowsOf([...malformed(count), ...others]));
  await insertBatch(connected.db)(batch);
  return { account, batch };
};

test('concurrent calls record each line once', async () => {
  const [wellFormed = ''] = numbers(1);
  const { account, batch } = await upload(300, ['FR7', wellFormed]);
  const found = await findMalformedLines(connected.db)(500);
  expect(found).toHaveLength(300);
  const tries = [found, found.toReversed(), found.slice(50), found].map((some) => some.map((one) => checkOf(one)));
  const settled = (await Promise.all(tries.map((some) => settleMalformedLines(connected.db)(some, AT)))).flat();

  expect(new Set(settled.map(({ requestId }) => requestId)).size).toBe(300);
  expect(settled).toHaveLength(300);
  expect(settled.every(({ batchId }) => batchId === batch.id)).toBe(true);
  const lines = await connected.db.batchLine.findMany({ where: { batchId: batch.id }, orderBy: { id: 'asc' } });
  expect(lines.slice(0, -1).every(({ status, valid, checkId }) => status === 'done' && !valid && checkId)).toBe(true);
  expect(lines[7]?.checkId).toBe(lines[300]?.checkId);
  expect(lines.at(-1)).toMatchObject({ status: 'queued', vatNumber: wellFormed });

  const checks = await connected.db.check.findMany({ where: { accountId: account } });
  expect(checks).toHaveLength(300);
  const first = checks.find(({ id }) => id === lines[0]?.checkId);
  expect(first).toMatchObject({ vatNumber: 'FR0', valid: false, test: false, checkedAt: AT });
  expect(Buffer.from(first?.body ?? []).toString()).toBe(`{"of":"${lines[0]?.requestId}"}`);
  const [counted] = await connected.db.$queryRaw<object[]>`
    SELECT (SELECT count(*)::int FROM anchor_leaf l JOIN "check" c ON c.id = l.check_id AND c.hash = l.hash) AS leaves,
      (SELECT sum(malformed)::int FROM check_day WHERE account_id = ${account}::uuid) AS malformed,
      (SELECT count(*)::int FROM request r JOIN "check" c ON c.id = r.check_id AND c.request_id = r.id
        WHERE r.account_id = ${account}::uuid AND r.state = 'completed') AS ended`;
  expect(counted).toEqual({ leaves: 300, malformed: 300, ended: 300 });
  expect(await auditUsage(connected.db)(PERIOD, 10)).toEqual([]);
  expect(await findMalformedLines(connected.db)(500)).toEqual([]);
  expect(
    await settleMalformedLines(connected.db)(
      found.map((one) => checkOf(one)),
      AT,
    ),
  ).toEqual([]);
});

test('finds the lines of a batch after the whole service was stopped for years', async () => {
  const at = new Date(Date.UTC(AT.getUTCFullYear() - 3, 1, 28));
  const rows = rowsOf(malformed(3));
  const account = await newAccount(connected.db);
  const plan = packPlan(planBatch({ rows, requester: null, at }));
  const batch = await newBatch(account, rows, { id: newUuidAt(at), createdAt: at, ...plan });
  await insertBatch(connected.db)(batch);
  expect(await queuesToDispatch(connected.db)(['malformed'])).toEqual(['malformed']);
  const found = await findMalformedLines(connected.db)(500);
  expect(found.map(({ vatNumber }) => vatNumber)).toEqual(['FR0', 'FR1', 'FR2']);
  await settleMalformedLines(connected.db)(
    found.map((one) => checkOf(one, at)),
    AT,
  );
  expect(await completeBatches(connected.db)(null, AT)).toMatchObject([{ id: batch.id, done: 3, invalid: 3 }]);
  expect(await queuesToDispatch(connected.db)(['malformed'])).toEqual([]);
});

test('does not end requests that need a lookup, and counts the days of the checks', async () => {
  const { account, batch } = await upload(2, numbers(2));
  const requests = await connected.db.request.findMany({ where: { accountId: account }, orderBy: { id: 'asc' } });
  const days = ['2026-11-19T23:59:59.999Z', '2026-11-20T00:00:00.000Z', '2026-11-20T00:00:00.000Z'];
  const lines = requests.map((request, n) => checkOf(request, new Date(days[n] ?? AT)));
  const settled = await settleMalformedLines(connected.db)(lines, AT);
  expect(settled.map(({ requestId }) => requestId).toSorted()).toEqual(requests.slice(0, 2).map(({ id }) => id));
  expect(await completeBatches(connected.db)([batch.id], AT)).toEqual([]);
  const counted = await connected.db.$queryRaw`
    SELECT day::text, malformed FROM check_day WHERE account_id = ${account}::uuid ORDER BY day`;
  expect(counted).toEqual([
    { day: '2026-11-19', malformed: 1 },
    { day: '2026-11-20', malformed: 1 },
  ]);
});

test('finds a page of a large upload by indexes, without reading the other lines', async () => {
  await upload(10_000);
  const found = await findMalformedLines(connected.db)(200);
  const read = await connected.db.$transaction(async (tx) => {
    expect(
      await settleMalformedLines(tx)(
        found.map((one) => checkOf(one)),
        AT,
      ),
    ).toHaveLength(200);
    return tx.$queryRaw<{ rows: number }[]>`
      SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables
      WHERE relname IN ('batch_line', 'request')`;
  });
  expect(read).toHaveLength(2);
  for (const { rows } of read) expect(rows).toBeLessThan(5_000);
});
