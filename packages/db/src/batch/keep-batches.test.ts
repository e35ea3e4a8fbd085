import { LINES_IN_WINDOW, sweepBatches } from '@vat/domain';
import { auditUsage } from '../account/usage.js';
import { testDatabase } from '../test-database.fixture.js';
import { AT, newAccount, newBatch, numbers, PERIOD, rowsOf } from './batch.fixture.js';
import { deleteOldBatches } from './batches.js';
import { dispatchLines } from './dispatch-lines.js';
import { auditBatches, completeBatches, endLostLines } from './end-lines.js';
import { insertBatch } from './insert-batch.js';

const connected = testDatabase(10);

const END = new Date(AT.getTime() + 3_600_001);

/** A batch with lookups, one number twice, and one malformed number. */
const upload = async (accountId: string, from: number): Promise<string> => {
  const [first = '', ...others] = numbers(20, from);
  const batch = await newBatch(accountId, rowsOf([first, first, ...others, 'DE12']));
  await insertBatch(connected.db)(batch);
  return batch.id;
};
/** The number of lines by outcome. */
const errorsOf = (batchId: string) =>
  connected.db.$queryRaw<unknown[]>`
    SELECT COALESCE(error_code, status) AS as, count(*)::int AS n FROM batch_line WHERE batch_id = ${batchId}::uuid
    GROUP BY 1 ORDER BY 1`;

test('lines past their deadline end, dispatched or not, and their units are released', async () => {
  const account = await newAccount(connected.db);
  const batchId = await upload(account, 0);
  await dispatchLines(connected.db)('DE', AT);
  await connected.db.$executeRaw`
    UPDATE request SET attempts = 1 WHERE account_id = ${account}::uuid AND fed AND answer IS NULL`;
  const end = endLostLines(connected.db);
  expect(await end(AT, 500)).toEqual({ ended: 0, neverAsked: 0 });
  const chunks = [await end(END, 15), await end(END, 15)];
  expect(chunks.map(({ ended }) => ended)).toEqual([15, 5]);
  expect(chunks.reduce((sum, { neverAsked }) => sum + neverAsked, 0)).toBe(20 - LINES_IN_WINDOW);
  expect(await errorsOf(batchId)).toEqual([
    { as: 'NEVER_ASKED', n: 20 - LINES_IN_WINDOW },
    // Two lines share a request.
    { as: 'UPSTREAM_NO_ANSWER', n: LINES_IN_WINDOW + 1 },
    // Its verdict is known, and a worker records it later.
    { as: 'queued', n: 1 },
  ]);
  expect(await connected.db.usage.findMany({ where: { accountId: account } })).toMatchObject([
    { used: 0, reserved: 0 },
  ]);
});

test('lines of a disabled account end in chunks, and those of others are unchanged', async () => {
  const [account, other] = [await newAccount(connected.db), await newAccount(connected.db)];
  const batchId = await upload(account, 100);
  const otherId = await upload(other, 200);
  await connected.db.account.update({ where: { id: account }, data: { disabledAt: AT } });
  expect(await endLostLines(connected.db)(AT, 500)).toEqual({ ended: 20, neverAsked: 0 });
  expect(await errorsOf(batchId)).toEqual([
    { as: 'ACCOUNT_DISABLED', n: 21 },
    { as: 'queued', n: 1 },
  ]);
  expect(await errorsOf(otherId)).toEqual([{ as: 'queued', n: 22 }]);
  expect(await auditUsage(connected.db)(PERIOD, 10)).toEqual([]);
});

test('a sweep ends all lines of a disabled account, even if they share a request or only wait for their check', async () => {
  const account = await newAccount(connected.db);
  const [shared = '', ...others] = numbers(6, 500);
  const lines = ['DE12', 'DE13', 'DE14', shared, shared, shared, ...others];
  const batch = await newBatch(account, rowsOf(lines));
  await insertBatch(connected.db)(batch);
  await connected.db.account.update({ where: { id: account }, data: { disabledAt: AT } });
  const swept = await sweepBatches({
    endLost: (now) => endLostLines(connected.db)(now, 2),
    onNeverAsked: () => undefined,
    complete: () => Promise.resolve([]),
    queuesToDispatch: () => Promise.resolve([]),
    dispatch: () => Promise.resolve(),
    enqueueDelivery: () => Promise.resolve(),
    now: () => AT,
  })();
  expect(swept.lost_lines).toBe(6);
  expect(await errorsOf(batch.id)).toEqual([
    { as: 'ACCOUNT_DISABLED', n: 8 },
    { as: 'queued', n: 3 },
  ]);
});

test('concurrent calls complete a batch once, and only when no line is queued', async () => {
  const account = await newAccount(connected.db);
  const batchId = await upload(account, 300);
  const complete = () => completeBatches(connected.db)([batchId], END);
  expect(await complete()).toEqual([]);
  await connected.db.account.update({ where: { id: account }, data: { disabledAt: AT } });
  await endLostLines(connected.db)(AT, 500);
  expect(await complete()).toEqual([]);
  await connected.db
    .$executeRaw`UPDATE batch_line SET status = 'failed', error_code = 'BAD_REQUEST' WHERE status = 'queued' AND batch_id = ${batchId}::uuid`;
  const results = await Promise.all(Array.from({ length: 8 }, complete));
  expect(results.flat()).toMatchObject([{ id: batchId, accountId: account, total: 22, done: 0, failed: 22 }]);
  expect(await connected.db.event.count({ where: { subjectId: batchId } })).toBe(1);
  expect(await connected.db.batch.findUnique({ where: { id: batchId } })).toMatchObject({
    state: 'completed',
    failed: 22,
    completedAt: END,
  });
  expect(await auditBatches(connected.db)(AT, 10)).toEqual([]);

  await connected.db.$executeRaw`UPDATE batch SET done = 1, invalid = 1, failed = 21 WHERE id = ${batchId}::uuid`;
  expect(await auditBatches(connected.db)(AT, 10)).toEqual([
    {
      batchId,
      events: 1,
      counts: { done: 1, failed: 21, valid: 0, invalid: 1 },
      counted: { done: 0, failed: 22, valid: 0, invalid: 0 },
    },
  ]);
});

test('old completed batches are deleted with their lines, but not running ones', async () => {
  const account = await newAccount(connected.db);
  const old = await insertBatch(connected.db)(await newBatch(account, rowsOf(['', 'GB1'])));
  const running = await upload(account, 400);
  const before = new Date(AT.getTime() + 1);
  expect(old).toMatchObject({ kind: 'created', batch: { status: 'completed' } });
  expect(await deleteOldBatches(connected.db)(AT, AT)).toBe(0);
  expect(await deleteOldBatches(connected.db)(before, AT)).toBe(1);
  expect(await connected.db.batchLine.count({ where: { batch: { accountId: account } } })).toBe(22);
  expect(await connected.db.batch.findMany({ where: { accountId: account } })).toMatchObject([{ id: running }]);
});

test('counts of uploaded lines are deleted when they no longer apply to the limit, whatever the retention of batches', async () => {
  const account = await newAccount(connected.db);
  await upload(account, 600);
  const stored = () => connected.db.batchUpload.count({ where: { accountId: account } });
  await deleteOldBatches(connected.db)(new Date(0), AT);
  expect(await stored()).toBe(1);
  await deleteOldBatches(connected.db)(new Date(0), new Date(AT.getTime() + 1));
  expect(await stored()).toBe(0);
});
