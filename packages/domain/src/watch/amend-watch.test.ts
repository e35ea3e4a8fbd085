import { nextCheckAt } from './run-watch.js';
import type { Watch } from './watch.js';
import { amendWatch } from './watch-changes.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');
const DAY_MS = 86_400_000;
const daysAgo = (days: number) => new Date(NOW.getTime() - days * DAY_MS);
const watch = (more: Partial<Watch> = {}): Watch => ({
  id: '01938d0e-0000-7000-8000-000000000001',
  accountId: '01938d0e-0000-7000-8000-000000000002',
  vatNumber: 'DE136695976',
  label: 'a',
  frequency: 'weekly',
  state: 'active',
  createdAt: daysAgo(30),
  nextCheckAt: new Date(NOW.getTime() + 4 * DAY_MS),
  requestId: null,
  lastCheckId: '01938d0e-0000-7000-8000-000000000003',
  lastCheckedAt: daysAgo(3),
  missedSince: null,
  ...more,
});
const BUSINESS = { plan: 'business', active: 0 } as const;
const codeOf = (amend: () => unknown): unknown => {
  try {
    return amend();
  } catch (error) {
    return (error as { code?: string }).code;
  }
};

test('a weekly watch that becomes daily is due at its next time of day, not a week later', () => {
  const { nextCheckAt: due, frequency } = amendWatch(watch(), { frequency: 'daily' }, BUSINESS, NOW);
  expect([frequency, due]).toEqual(['daily', nextCheckAt(watch().id, 'daily', daysAgo(3), NOW)]);
  expect(due.getTime()).toBeGreaterThanOrEqual(NOW.getTime());
  expect(due.getTime()).toBeLessThan(NOW.getTime() + DAY_MS);
});

test('a daily watch that becomes weekly is due a week after its last check', () => {
  const daily = watch({ frequency: 'daily', nextCheckAt: new Date(NOW.getTime() + DAY_MS / 2) });
  const { nextCheckAt: due } = amendWatch(daily, { frequency: 'weekly' }, BUSINESS, NOW);
  expect(due).toEqual(nextCheckAt(daily.id, 'weekly', daysAgo(3), NOW));
});

test('a daily watch whose last run had no answer becomes weekly and is still due within 24 hours', () => {
  const missed = watch({
    frequency: 'daily',
    missedSince: daysAgo(2),
    nextCheckAt: new Date(NOW.getTime() + DAY_MS / 2),
  });
  const { nextCheckAt: due } = amendWatch(missed, { frequency: 'weekly' }, BUSINESS, NOW);
  const week = nextCheckAt(missed.id, 'weekly', daysAgo(3), NOW);
  expect((week.getTime() - due.getTime()) % DAY_MS).toBe(0);
  expect(due.getTime()).toBeGreaterThanOrEqual(NOW.getTime());
  expect(due.getTime()).toBeLessThan(NOW.getTime() + DAY_MS);
  // Its first run had no answer: nothing to count an interval from.
  const never = watch({ ...missed, lastCheckId: null, lastCheckedAt: null });
  expect(amendWatch(never, { frequency: 'weekly' }, BUSINESS, NOW).nextCheckAt).toEqual(never.nextCheckAt);
});

test('a frequency that changes during a run counts from now; the same frequency again, or before the baseline, moves nothing', () => {
  const running = watch({ requestId: '01938d0e-0000-7000-8000-000000000004' });
  expect(amendWatch(running, { frequency: 'daily' }, BUSINESS, NOW).nextCheckAt).toEqual(
    nextCheckAt(running.id, 'daily', NOW, NOW),
  );
  expect(amendWatch(watch(), { frequency: 'weekly' }, BUSINESS, NOW)).toEqual(watch());
  const fresh = watch({ lastCheckId: null, lastCheckedAt: null, nextCheckAt: daysAgo(0) });
  expect(amendWatch(fresh, { frequency: 'daily' }, BUSINESS, NOW).nextCheckAt).toEqual(fresh.nextCheckAt);
});

test('a resumed watch retains its due time, and is due at once when that has passed', () => {
  const paused = watch({ state: 'paused' });
  expect(amendWatch(paused, { status: 'active' }, BUSINESS, NOW).nextCheckAt).toEqual(paused.nextCheckAt);
  const missed = watch({ state: 'paused', nextCheckAt: daysAgo(2) });
  expect(amendWatch(missed, { status: 'active' }, BUSINESS, NOW).nextCheckAt).toEqual(NOW);
});

test('the frequency is checked before the limit, and neither when the call changes nothing', () => {
  const paused = watch({ state: 'paused', frequency: 'daily' });
  const full = { plan: 'starter', active: 50 } as const;
  expect(codeOf(() => amendWatch(paused, { status: 'active' }, full, NOW))).toBe('FREQUENCY_NOT_ALLOWED');
  expect(codeOf(() => amendWatch(paused, { status: 'active', frequency: 'weekly' }, full, NOW))).toBe('WATCH_LIMIT');
  expect(codeOf(() => amendWatch(watch(), { frequency: 'daily' }, full, NOW))).toBe('FREQUENCY_NOT_ALLOWED');
  const free = { plan: 'free', active: 10 } as const;
  expect(amendWatch(watch(), { status: 'active', label: null }, free, NOW)).toEqual(watch({ label: null }));
  expect(amendWatch(watch(), { status: 'paused' }, free, NOW).state).toBe('paused');
});
