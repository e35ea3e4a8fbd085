import { newUuid, nextAfterMiss } from '@vat/domain';
import fc from 'fast-check';
import { newAccount } from '../batch/batch.fixture.js';
import { endRequest } from '../request/settle-request.js';
import { testDatabase } from '../test-database.fixture.js';
import { findDueWatches, startRun } from './watch-runs.js';

const connected = testDatabase(4);
const NOW = new Date('2026-11-20T10:00:00.000Z');
const at = (ms: number): Date => new Date(NOW.getTime() + ms);
const HOUR_MS = 3_600_000;

/** Inserts a watch of Germany; one with `lookupAt` has a run whose next lookup is then. Returns the id of the run. */
const insert = async (accountId: string, nextCheckAt: Date, lookupAt: Date | null = null): Promise<string> => {
  const { db } = connected;
  const [id, requestId] = [newUuid(), newUuid()];
  const number = `DE${id}`;
  await db.$executeRaw`
    INSERT INTO watch (id, account_id, vat_number, country_code, national, input, frequency, state, created_at, next_check_at,
      request_id)
    VALUES (${id}::uuid, ${accountId}::uuid, ${number}, 'DE', '', '', 'daily', 'active', ${NOW}::timestamptz,
      ${nextCheckAt}::timestamptz, ${lookupAt === null ? null : requestId}::uuid)`;
  if (lookupAt !== null)
    await db.$executeRaw`
      INSERT INTO request (id, account_id, test, origin, fed, state, input, country_code, national, vat_number, entries,
        created_at, window_ends_at, due_at)
      VALUES (${requestId}::uuid, ${accountId}::uuid, false, 'watch', true, 'pending', '', 'DE', '', ${number}, '[]',
        ${NOW}::timestamptz, ${NOW}::timestamptz, ${lookupAt}::timestamptz)`;
  return requestId;
};

test('runs that wait for a slot leave less room for due watches than runs between two lookups', async () => {
  const accountId = await newAccount(connected.db);
  for (let n = 0; n < 6; n += 1) await insert(accountId, at(-HOUR_MS));
  for (let n = 0; n < 3; n += 1) await insert(accountId, at(HOUR_MS), at(60_000));
  await insert(accountId, at(HOUR_MS), at(-1));
  const found = async (waiting: number, underWay: number): Promise<number> =>
    (await findDueWatches(connected.db)(['DE', 'FR'])(NOW, { waiting, underWay })).length;
  expect(await found(4, 100)).toBe(3);
  expect(await found(1, 100)).toBe(0);
  expect(await found(100, 6)).toBe(2);
  expect(await found(100, 4)).toBe(0);
  expect(await found(100, 100)).toBe(6);
});

test('a run that was planned for another frequency does not start: its next time would be that of the old one', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  await insert(accountId, at(-1));
  const [due] = (await findDueWatches(db)(['DE'])(NOW, { waiting: 100, underWay: 100 })).filter(
    (watch) => watch.accountId === accountId,
  );
  if (!due) throw new Error('the watch is not due');
  const planned = {
    watchId: due.id,
    entries: [],
    now: NOW,
    giveUpAt: at(HOUR_MS),
    retryAt: at(HOUR_MS),
    asIfDue: false,
  };
  const quota = { period: '2026-11', limit: 10 };
  const start = (frequency: 'daily' | 'weekly') =>
    startRun(db)({ ...planned, quota, requestId: newUuid(), frequency, nextCheckAt: at(24 * HOUR_MS) });
  expect(await start('weekly')).toBe('not_due');
  expect(await start('daily')).toBe('started');
});

test('a run without an answer leaves its watch due as the domain says (any due time)', async () => {
  const { db } = connected;
  const accountId = await newAccount(db);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: -30 * HOUR_MS, max: 9 * 24 * HOUR_MS }), async (ms) => {
      const next = at(ms);
      const requestId = await insert(accountId, next, NOW);
      const event = { id: newUuid(), type: 'check.failed' as const, body: '{}' };
      const reason = 'UPSTREAM_NO_ANSWER' as const;
      await endRequest(db)({ requestId, reason, event, deliveryId: newUuid(), now: NOW });
      const [row] = await db.$queryRaw<{ at: Date }[]>`
        SELECT next_check_at AS at FROM watch WHERE vat_number = (SELECT vat_number FROM request WHERE id = ${requestId}::uuid)`;
      expect(row?.at).toEqual(nextAfterMiss(next, NOW));
    }),
    { numRuns: 40 },
  );
});
