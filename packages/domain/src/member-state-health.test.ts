import {
  bucketOf,
  DURATION_BOUNDS_MS,
  type MinuteTally,
  memberStateHealth,
  percentile,
} from './member-state-health.js';
import type { MemberState } from './member-states.js';

const NOW = new Date('2026-11-20T10:00:00.000Z');

const tally = (end: MinuteTally['end'], durations: number[]): MinuteTally => {
  const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  for (const ms of durations) buckets[bucketOf(ms)] = (buckets[bucketOf(ms)] ?? 0) + 1;
  return { memberState: 'DE', minute: NOW, end, lookups: durations.length, lines: 0, buckets };
};

const germany = (tallies: MinuteTally[], down: ReadonlySet<MemberState> | null = null) =>
  memberStateHealth(tallies, [], down, NOW).find((entry) => entry.memberState === 'DE');

test('every member state has an entry, and one without lookups is unknown', () => {
  const all = memberStateHealth([], [], null, NOW);
  expect(all).toHaveLength(28);
  expect(all.every((entry) => entry.health === 'unknown' && entry.answered === null && entry.p50Ms === null)).toBe(
    true,
  );
});

test('shares are of all lookups, over all minutes', () => {
  const entry = germany([
    tally('answered', [100, 100, 100]),
    tally('saturated', [20]),
    tally('unavailable', [5, 5, 5, 5]),
  ]);
  expect(entry).toMatchObject({ lookups: 8, answered: 0.375, saturated: 0.125, unavailable: 0.5, health: 'degraded' });
});

test.each([
  ['ok', 95, 5],
  ['degraded', 50, 50],
  ['down', 5, 95],
])('health is %s when %d of 100 are answered', (health, answered, unavailable) => {
  const entry = germany([
    tally('answered', new Array(answered).fill(50)),
    tally('unavailable', new Array(unavailable).fill(50)),
  ]);
  expect(entry?.health).toBe(health);
});

test('a member state that refuses lookups as too many works', () => {
  const saturated = [tally('answered', [50, 50]), tally('saturated', new Array(98).fill(50))];
  expect(germany(saturated)?.health).toBe('degraded');
  expect(germany([...saturated, tally('unavailable', new Array(200).fill(50))])?.health).toBe('down');
});

test('a member state that is probed is down, whatever it answered before', () => {
  const answered = [tally('answered', new Array(90).fill(50)), tally('unavailable', [50, 50, 50, 50, 50])];
  expect(germany(answered)?.health).toBe('ok');
  expect(germany(answered, new Set<MemberState>(['DE']))?.health).toBe('down');
  expect(germany(answered, new Set<MemberState>(['FR']))?.health).toBe('ok');
});

test('percentiles are exact to the bucket', () => {
  const { buckets } = tally(
    'answered',
    Array.from({ length: 100 }, (_, n) => n + 1),
  );
  expect(percentile(buckets, 0.5)).toBe(60);
  expect(percentile(buckets, 0.95)).toBe(135);
  expect(percentile([], 0.5)).toBeNull();
});

test('the oldest wait is that of the queue, by class too', () => {
  const wait = (name: 'interactive' | 'batch', dispatched: boolean, depth: number, ms: number) => ({
    ...{ memberState: 'FR' as const, class: name, dispatched, depth, oldestDueAt: new Date(NOW.getTime() - ms) },
  });
  const waits = [wait('interactive', true, 3, 4_200), wait('batch', true, 12, 9_000), wait('batch', false, 0, 60_000)];
  expect(memberStateHealth([], waits, null, NOW).find((entry) => entry.memberState === 'FR')).toMatchObject({
    queueDepth: 15,
    oldestWaitMs: 60_000,
    oldestWaitsMs: { interactive: 4_200, background: null, batch: 60_000, watch: null },
  });
});
