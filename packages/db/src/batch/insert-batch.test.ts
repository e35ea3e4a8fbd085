import { createHash } from 'node:crypto';
import { setAccountDisabled } from '../account/accounts.js';
import { auditUsage } from '../account/usage.js';
import { findIdempotencyKey } from '../idempotency-keys.js';
import { testDatabase } from '../test-database.fixture.js';
import { AT, newAccount, newBatch, numbers, PERIOD, rowsOf } from './batch.fixture.js';
import { insertBatch } from './insert-batch.js';

const connected = testDatabase(20);

const linesOf = (batchId: string) => connected.db.batchLine.findMany({ where: { batchId }, orderBy: { id: 'asc' } });
const requestsOf = (accountId: string) => connected.db.request.findMany({ where: { accountId } });
const usageOf = async (accountId: string) =>
  (await connected.db.usage.findUnique({ where: { accountId_period: { accountId, period: PERIOD } } })) ?? {
    used: 0,
    reserved: 0,
  };

test('a file becomes a batch, its lines in file order and one request for the lines of one number', async () => {
  const account = await newAccount(connected.db);
  const [a = '', b = ''] = numbers(2);
  const batch = await newBatch(account, rowsOf([a, b, ` ${a.toLowerCase()}`, 'DE12', '', 'GB123456789']));
  const inserted = await insertBatch(connected.db)(batch);

  expect(inserted).toMatchObject({
    kind: 'created',
    batch: { id: batch.id, status: 'queued', total: 6, done: 0, failed: 2, valid: 0, invalid: 0, completedAt: null },
    deliveryId: null,
  });
  const lines = await linesOf(batch.id);
  expect(lines.map(({ line, status, errorCode }) => [line, status, errorCode])).toEqual([
    [2, 'queued', null],
    [3, 'queued', null],
    [4, 'queued', null],
    [5, 'queued', null],
    [6, 'failed', 'BAD_REQUEST'],
    [7, 'failed', 'BAD_REQUEST'],
  ]);
  expect(lines[0]?.requestId).toBe(lines[2]?.requestId);
  expect(lines[0]?.cells).toEqual([a, 'row 0']);

  const requests = await requestsOf(account);
  expect(requests.map(({ state, origin, dispatched, acceptedAt }) => [state, origin, dispatched, acceptedAt])).toEqual(
    Array.from({ length: 3 }, () => ['pending', 'batch', false, null]),
  );
  const malformed = requests.find((request) => request.vatNumber === 'DE12');
  expect(malformed).toMatchObject({ quotaPeriod: null, answer: { verdict: 'malformed' } });
  expect(requests.filter((request) => request.answer === null).map((request) => request.quotaPeriod)).toEqual([
    PERIOD,
    PERIOD,
  ]);
  expect(await usageOf(account)).toMatchObject({ used: 0, reserved: 2 });
  expect(await auditUsage(connected.db)(PERIOD, 10)).toEqual([]);
});

test('units are reserved in file order up to the quota, and the lines beyond it fail at once', async () => {
  const account = await newAccount(connected.db);
  const [a = '', b = '', c = '', d = ''] = numbers(4);
  const batch = await newBatch(account, rowsOf([a, 'DE12', b, a, c, d, c]), { quota: { period: PERIOD, limit: 2 } });
  expect(await insertBatch(connected.db)(batch)).toMatchObject({ batch: { failed: 3, status: 'queued' } });
  expect((await linesOf(batch.id)).map((line) => line.errorCode)).toEqual([
    null,
    null,
    null,
    null,
    'QUOTA_EXCEEDED',
    'QUOTA_EXCEEDED',
    'QUOTA_EXCEEDED',
  ]);
  expect(await usageOf(account)).toMatchObject({ reserved: 2 });
  expect(await requestsOf(account)).toHaveLength(3);
});

test('concurrent uploads never reserve more units than the quota has', async () => {
  const account = await newAccount(connected.db);
  const quota = { period: PERIOD, limit: 25 };
  const batches = await Promise.all(
    Array.from({ length: 5 }, (_, n) => newBatch(account, rowsOf(numbers(10, n * 10)), { quota })),
  );
  const inserted = await Promise.all(batches.map(insertBatch(connected.db)));
  const failed = inserted.map((result) => (result.kind === 'created' ? result.batch.failed : -1));
  expect(failed.reduce((sum, n) => sum + n, 0)).toBe(25);
  expect(await usageOf(account)).toMatchObject({ used: 0, reserved: 25 });
  expect(await requestsOf(account)).toHaveLength(25);
  expect(await connected.db.batchLine.count({ where: { batch: { accountId: account }, status: 'failed' } })).toBe(25);
  expect(await auditUsage(connected.db)(PERIOD, 10)).toEqual([]);
});

test('of twelve concurrent uploads five become batches, and the others return the number of active ones', async () => {
  const account = await newAccount(connected.db);
  const batches = await Promise.all(
    Array.from({ length: 12 }, (_, n) => newBatch(account, rowsOf(numbers(3, n * 10)))),
  );
  const inserted = await Promise.all(batches.map(insertBatch(connected.db)));
  expect(inserted.filter((result) => result.kind === 'created')).toHaveLength(5);
  expect(inserted.filter((result) => result.kind === 'too_many_batches')).toEqual(
    Array.from({ length: 7 }, () => ({ kind: 'too_many_batches', active: 5 })),
  );
  expect(await connected.db.batch.count({ where: { accountId: account } })).toBe(5);
  expect(await usageOf(account)).toMatchObject({ reserved: 15 });
});

describe('the limit of lines in 24 hours', () => {
  const HOUR_MS = 3_600_000;
  const at = (hours: number) => new Date(AT.getTime() + hours * HOUR_MS);
  /** Lines that fail at once, so that no batch stays active. */
  const failing = (count: number) => rowsOf(new Array<string>(count).fill(''));
  const upload = async (account: string, hours: number, lines: number) =>
    insertBatch(connected.db)(
      await newBatch(account, failing(lines), {
        createdAt: at(hours),
        lineLimit: { max: 10, since: at(hours - 24) },
      }),
    );

  test('is never exceeded by concurrent uploads, even when all lines failed', async () => {
    const account = await newAccount(connected.db);
    const inserted = await Promise.all(Array.from({ length: 9 }, () => upload(account, 0, 3)));
    expect(inserted.filter(({ kind }) => kind === 'created')).toHaveLength(3);
    expect(inserted.filter(({ kind }) => kind === 'too_many_lines')).toEqual(
      new Array(6).fill({ kind: 'too_many_lines', freedBy: AT }),
    );
    expect(await connected.db.batch.count({ where: { accountId: account } })).toBe(3);
    expect(await upload(account, 0, 1)).toMatchObject({ kind: 'created' });
  });

  test('returns the time of the upload whose expiry makes enough room, and counts deleted batches', async () => {
    const account = await newAccount(connected.db);
    for (const [hours, lines] of [
      [0, 2],
      [1, 3],
      [2, 5],
    ] as const)
      expect(await upload(account, hours, lines)).toMatchObject({ kind: 'created' });
    await connected.db.batch.deleteMany({ where: { accountId: account } });
    for (const [lines, freedBy] of [
      [1, 0],
      [2, 0],
      [3, 1],
      [5, 1],
      [6, 2],
      [10, 2],
    ] as const)
      expect(await upload(account, 3, lines)).toEqual({ kind: 'too_many_lines', freedBy: at(freedBy) });
    // The returned time is the earliest at which there is room.
    const before = new Date(at(24).getTime() - 1);
    const late = await newBatch(account, failing(2), {
      createdAt: before,
      lineLimit: { max: 10, since: new Date(AT.getTime() - 1) },
    });
    expect(await insertBatch(connected.db)(late)).toMatchObject({ kind: 'too_many_lines' });
    expect(await upload(account, 24, 2)).toMatchObject({ kind: 'created' });
    expect(await upload(account, 24, 1)).toMatchObject({ kind: 'too_many_lines', freedBy: at(1) });
  });
});

test('twenty uploads with one Idempotency-Key create one batch, whose answer the key replays', async () => {
  const account = await newAccount(connected.db);
  const idempotency = {
    key: 'once',
    fingerprint: createHash('sha256').update('file').digest(),
    expiredBefore: new Date(0),
  };
  const batches = await Promise.all(
    Array.from({ length: 20 }, () => newBatch(account, rowsOf(numbers(3)), { idempotency })),
  );
  const inserted = await Promise.all(batches.map(insertBatch(connected.db)));
  const created = inserted.filter((result) => result.kind === 'created');
  expect(created).toHaveLength(1);
  expect(inserted.filter((result) => result.kind === 'key_taken')).toHaveLength(19);
  expect(await connected.db.batch.count({ where: { accountId: account } })).toBe(1);

  const again = await insertBatch(connected.db)(await newBatch(account, rowsOf(numbers(3)), { idempotency }));
  expect(again).toEqual({ kind: 'key_taken' });
  const bound = await findIdempotencyKey(connected.db)(account, idempotency.key, idempotency.expiredBefore);
  expect(bound).toMatchObject({ answer: { status: 201 } });
  expect(Buffer.from(bound?.answer?.body ?? [])).toEqual(created[0]?.kind === 'created' && created[0].answer.body);
});

test('an account that was disabled while its file was written gets no batch, so that its erasure leaves none behind', async () => {
  const account = await newAccount(connected.db);
  const write = async () => insertBatch(connected.db)(await newBatch(account, rowsOf(numbers(3))));
  await setAccountDisabled(connected.db)(account, AT);
  expect(await write()).toEqual({ kind: 'account_disabled' });
  expect([await requestsOf(account), await usageOf(account)]).toMatchObject([[], { used: 0, reserved: 0 }]);
  await setAccountDisabled(connected.db)(account, null);
  expect(await write()).toMatchObject({ kind: 'created' });
});

test('a batch in which all lines fail is completed at once, with its event', async () => {
  const account = await newAccount(connected.db);
  await connected.db.webhook.create({
    data: {
      accountId: account,
      url: 'https://example.com',
      secretSealed: Buffer.from(''),
      secretPrefix: 'whsec_ab',
      configuredAt: AT,
    },
  });
  const batch = await newBatch(account, rowsOf(['', 'GB123456789']));
  const inserted = await insertBatch(connected.db)(batch);
  expect(inserted).toMatchObject({
    kind: 'created',
    batch: { status: 'completed', total: 2, failed: 2, completedAt: AT },
    deliveryId: expect.any(String),
  });
  const events = await connected.db.event.findMany({ where: { accountId: account } });
  expect(events.map((event) => JSON.parse(event.body))).toEqual([
    { event: 'batch.completed', batch_id: expect.stringMatching(/^bat_/), total: 2, done: 0, failed: 2 },
  ]);
});

test('ten thousand lines are written completely', async () => {
  const account = await newAccount(connected.db);
  const batch = await newBatch(account, rowsOf(numbers(10_000, 0)));
  const inserted = await insertBatch(connected.db)(batch);
  expect(inserted).toMatchObject({ kind: 'created', batch: { total: 10_000, failed: 0 } });
  expect(await connected.db.batchLine.count({ where: { batchId: batch.id } })).toBe(10_000);
});
