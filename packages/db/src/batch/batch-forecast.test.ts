import { bucketOf, DURATION_BOUNDS_MS, type MinuteTally, TYPICAL_DURATIONS_MS } from '@vat/domain';
import { numberOf } from '@vat/testkit';
import { readMinutes, recordMinutes } from '../request/upstream-statistics.js';
import { testDatabase } from '../test-database.fixture.js';
import { AT, newAccount, newBatch, numbers, rowsOf } from './batch.fixture.js';
import { readBacklog, readRemaining, readUsualHours } from './batch-forecast.js';
import { dispatchLines } from './dispatch-lines.js';
import { insertBatch } from './insert-batch.js';

const connected = testDatabase(4);
const HOUR_MS = 3_600_000;

test('the usual hours add up past days by the hour and the kind of day, with the time that lookups took', async () => {
  const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  buckets[bucketOf(500)] = 10;
  const tally = (hoursAgo: number, lines = 0): MinuteTally => ({
    memberState: 'DE',
    minute: new Date(AT.getTime() - hoursAgo * HOUR_MS),
    end: 'answered',
    lookups: 10,
    lines,
    buckets,
  });
  // A Friday at ten: its hour has not ended; Thursday, Wednesday, Sunday, and a day that is too long ago.
  await recordMinutes(connected.db)([tally(0, 3), tally(24), tally(48), tally(5 * 24), tally(20 * 24)]);
  const busyMs = 10 * Number(TYPICAL_DURATIONS_MS[bucketOf(500)]);
  const hour = { memberState: 'DE', hour: 10 };
  const usual = await readUsualHours(connected.db)(AT);
  expect(usual.toSorted((a, b) => b.answered - a.answered)).toEqual([
    { ...hour, weekend: false, answered: 20, busyMs: Math.round(2 * busyMs) },
    { ...hour, weekend: true, answered: 10, busyMs: Math.round(busyMs) },
  ]);
  expect(await readMinutes(connected.db)(AT)).toEqual([tally(0, 3)]);
});

test('what batches wait for is counted by request: those of an account by batch, those of others up to a limit', async () => {
  const { db } = connected;
  const [mine, other] = [await newAccount(db), await newAccount(db)];
  const add = async (accountId: string, candidates: string[]): Promise<string> => {
    const batch = await newBatch(accountId, rowsOf(candidates));
    await insertBatch(db)(batch);
    return batch.id;
  };
  const first = await add(mine, [...numbers(20), ...numbers(5), numberOf('FR', 1), 'DE1']);
  const second = await add(mine, numbers(3, 100));
  await add(other, numbers(30, 200));
  expect(await readRemaining(db)(mine)).toEqual([
    { batchId: first, memberState: 'DE', requests: 21 },
    { batchId: first, memberState: 'FR', requests: 1 },
    { batchId: second, memberState: 'DE', requests: 3 },
  ]);
  const waiting = async (limits: { accounts: number; lines: number }) =>
    (await readBacklog(db)(AT, ['DE', 'FR'], limits)).map((of) => `${of.memberState} ${of.requests}`).toSorted();
  expect(await waiting({ accounts: 20, lines: 5_000 })).toEqual(['DE 23', 'DE 30', 'FR 1']);
  expect(await waiting({ accounts: 1, lines: 10 })).toEqual(['DE 10', 'FR 1']);
  await dispatchLines(db)('FR', AT);
  expect(await waiting({ accounts: 20, lines: 5_000 })).toEqual(['DE 23', 'DE 30']);
});
