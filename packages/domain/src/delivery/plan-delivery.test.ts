import { planDelivery } from './delivery.js';

const DELAYS = [30_000, 120_000, 600_000, 1_800_000, 3_600_000];
const endedAt = new Date('2026-11-20T10:00:00.000Z');

test('a success ends the delivery, whichever attempt it is', () => {
  for (const number of [1, 6])
    expect(planDelivery({ number, succeeded: true, endedAt }, DELAYS)).toEqual({
      state: 'successful',
      nextAttemptAt: null,
    });
});

test('five retries follow, each its delay after the end of the failed attempt; then the delivery has failed', () => {
  const plans = [1, 2, 3, 4, 5, 6].map((number) => planDelivery({ number, succeeded: false, endedAt }, DELAYS));
  expect(plans.map(({ nextAttemptAt }) => nextAttemptAt && nextAttemptAt.getTime() - endedAt.getTime())).toEqual([
    ...DELAYS,
    null,
  ]);
  expect(plans.map(({ state }) => state)).toEqual([...DELAYS.map(() => 'pending'), 'failed']);
});
