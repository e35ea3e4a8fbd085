import { planRetry, windowEnd } from './plan-retry.js';
import { msIn, newRequest, POLICY } from './request.fixture.js';

describe('while a caller waits', () => {
  test('lookups follow the window delays', () => {
    const delays = [0, 1, 2, 3, 4].map(
      (windowRetries) => planRetry(newRequest({ windowRetries }), POLICY, msIn(0), 'quick').at,
    );
    expect(delays).toEqual([500, 1_000, 2_000, 4_000, 8_000].map(msIn));
  });

  test('a lookup that would come after the window waits for the background', () => {
    const retry = planRetry(newRequest({ windowRetries: 4 }), POLICY, msIn(15_000), 'quick');
    expect(retry.at).toEqual(msIn(20_000 + 30_000));
    expect(retry).toMatchObject({ windowRetries: 4, backgroundRetries: 1 });
  });

  test('a confirmation has a window of its own from the first answer', () => {
    expect(windowEnd(newRequest({ unconfirmedAt: msIn(15_000) }), POLICY)).toEqual(msIn(35_000));
  });
});

describe('in the background', () => {
  const pending = { state: 'pending' as const, acceptedAt: msIn(20_000), giveUpAt: msIn(86_420_000) };

  test('delays grow and the last one repeats', () => {
    const at = [0, 1, 2, 3, 4, 5, 9].map(
      (backgroundRetries) => planRetry(newRequest({ ...pending, backgroundRetries }), POLICY, msIn(30_000), 'quick').at,
    );
    expect(at).toEqual(
      [30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000, 3_600_000].map((ms) => msIn(30_000 + ms)),
    );
  });

  test('a blocked lookup skips the quick steps', () => {
    expect(planRetry(newRequest(pending), POLICY, msIn(30_000), 'slow').at).toEqual(msIn(30_000 + 600_000));
  });

  test('the last lookup is due at the give-up time', () => {
    expect(planRetry(newRequest({ ...pending, giveUpAt: msIn(40_000) }), POLICY, msIn(30_000), 'quick').at).toEqual(
      msIn(40_000),
    );
  });
});
