import fc from 'fast-check';
import {
  bucketOf,
  DURATION_BOUNDS_MS,
  type LookupEnd,
  type MinuteTally,
  TYPICAL_DURATIONS_MS,
} from '../member-state-health.js';
import type { MemberState } from '../member-states.js';
import { aheadInTurns, estimateEnd, outlookOf, type StateOutlook, type UsualHour } from './estimate-end.js';
import { forecastBatches, forecastIfPossible } from './forecast-batches.js';

const NOW = new Date('2026-11-20T10:02:30.000Z');
const MINUTE_MS = 60_000;
const before = (minutes: number): Date => new Date(Math.floor(NOW.getTime() / MINUTE_MS - minutes) * MINUTE_MS);

/** `lookups` of `durationMs` in the minute `ago` minutes before the current one. */
const tally = (
  ago: number,
  lookups: number,
  durationMs: number,
  lines = 0,
  end: LookupEnd = 'answered',
): MinuteTally => {
  const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  buckets[bucketOf(durationMs)] = lookups;
  return { memberState: 'DE', minute: before(ago), end, lookups, lines, buckets };
};
/** Two lookups a second at the given hours of working days, or as many as `perSecond`. */
const usual = (hour: number, perSecond: number): UsualHour => ({
  memberState: 'DE',
  hour,
  weekend: false,
  answered: Math.round(perSecond * 3_600_000),
  busyMs: 7_200_000_000,
});
const every = (perSecond: (hour: number) => number): UsualHour[] =>
  Array.from({ length: 24 }, (_, hour) => usual(hour, perSecond(hour)));
const estimate = (ahead: number, outlook: StateOutlook, since = NOW): Date | null =>
  estimateEnd([{ memberState: 'DE', ahead }], new Map<MemberState, StateOutlook>([['DE', outlook]]), since, NOW);
const secondsUntil = (end: Date | null): number | null => end && (end.getTime() - NOW.getTime()) / 1_000;

test('the minutes in which the lines waited decide, with all that delayed them', () => {
  const tallies = [tally(1, 90, 500, 60), tally(2, 90, 500, 60), tally(3, 240, 500, 240)];
  expect(secondsUntil(estimate(600, outlookOf(tallies, [], null, NOW), before(2)))).toBe(600);
});

test('before such a minute the durations of lookups do, less what others need', () => {
  expect(secondsUntil(estimate(3_600, outlookOf([tally(1, 30, 1_000)], [], null, NOW)))).toBeGreaterThan(1_500);
  const busy = outlookOf([tally(1, 120, 1_000), tally(2, 120, 1_000), tally(3, 120, 1_000)], [], null, NOW);
  expect(secondsUntil(estimate(360, busy))).toBeGreaterThan(1_200);
});

test('without a recent lookup the usual speed of the hour decides, and without both the end is unknown', () => {
  expect(
    secondsUntil(
      estimate(
        1_700,
        outlookOf(
          [],
          every(() => 2),
          null,
          NOW,
        ),
      ),
    ),
  ).toBe(1_000);
  expect(estimate(1, outlookOf([], [], null, NOW))).toBeNull();
});

test('an hour that is usually half as fast takes twice as long', () => {
  const speed = 2_000 / Number(TYPICAL_DURATIONS_MS[bucketOf(820)]);
  const tallies = [tally(1, 120, 820, 120)];
  const endWith = (later: number): number => {
    const hours = every((hour) => (hour > 10 ? later : speed));
    return Number(secondsUntil(estimate(3 * 7_200, outlookOf(tallies, hours, null, NOW), before(1))));
  };
  const thisHourS = 3_600 - 150;
  expect(endWith(speed / 2)).toBeCloseTo(thisHourS + 2 * (endWith(speed) - thisHourS), -1);
});

test.each<[StateOutlook['condition'], LookupEnd, number]>([
  ['down', 'unavailable', 0],
  ['saturated', 'saturated', 20],
  ['ok', 'saturated', 60],
])('a member state is %s by its latest lookups', (condition, end, answered) => {
  const tallies = [tally(0, 30, 100, 0, end), tally(0, answered, 500), tally(3, 500, 500)];
  expect(outlookOf(tallies, [], null, NOW).condition).toBe(condition);
});

test('a member state is down when the workers say so, although it answered a moment ago, and not down when they do not', () => {
  const [answering, failing] = [[tally(0, 30, 500)], [tally(0, 30, 100, 0, 'unavailable')]];
  expect(outlookOf(answering, [], true, NOW).condition).toBe('down');
  expect(outlookOf([], [], true, NOW).condition).toBe('down');
  expect(outlookOf(failing, [], false, NOW).condition).toBe('ok');
});

test('a batch that needs a member state that is down has no end yet', () => {
  const down = outlookOf(
    [tally(0, 30, 100, 0, 'unavailable')],
    every(() => 2),
    null,
    NOW,
  );
  expect(estimate(1, down)).toBeNull();
});

const outlooks = fc
  .record({
    tallies: fc.array(
      fc
        .record({
          ago: fc.integer({ min: 0, max: 4 }),
          lookups: fc.integer({ min: 1, max: 2_000 }),
          durationMs: fc.integer({ min: 1, max: 30_000 }),
          share: fc.double({ min: 0, max: 1, noNaN: true }),
          end: fc.constantFrom<LookupEnd>('answered', 'answered', 'saturated', 'unavailable'),
        })
        .map(({ ago, lookups, durationMs, share, end }) =>
          tally(ago, lookups, durationMs, end === 'answered' ? Math.floor(share * lookups) : 0, end),
        ),
      { maxLength: 8 },
    ),
    hours: fc.array(
      fc.record({ hour: fc.integer({ min: 0, max: 23 }), perSecond: fc.double({ min: 0.01, max: 50, noNaN: true }) }),
      { maxLength: 24 },
    ),
  })
  .map(({ tallies, hours }) =>
    outlookOf(
      tallies,
      hours.map(({ hour, perSecond }) => usual(hour, perSecond)),
      null,
      NOW,
    ),
  );
const sinces = fc.integer({ min: 0, max: 10 }).map(before);
const aheads = fc.integer({ min: 0, max: 100_000 });

test('the end is never in the past, and more lines never end earlier', () => {
  fc.assert(
    fc.property(outlooks, sinces, aheads, aheads, (outlook, since, a, b) => {
      const [fewer, more] = [Math.min(a, b), Math.max(a, b)].map((ahead) =>
        secondsUntil(estimate(ahead, outlook, since)),
      );
      if (fewer != null) expect(fewer).toBeGreaterThan(0);
      if (more != null) expect(fewer).toBeLessThanOrEqual(more);
    }),
  );
});

test('the slowest member state decides', () => {
  fc.assert(
    fc.property(outlooks, outlooks, sinces, aheads, aheads, (of, other, since, a, b) => {
      const both = estimateEnd(
        [
          { memberState: 'DE', ahead: a },
          { memberState: 'FR', ahead: b },
        ],
        new Map<MemberState, StateOutlook>([
          ['DE', of],
          ['FR', other],
        ]),
        since,
        NOW,
      );
      const alone = [estimate(a, of, since), estimate(b, other, since)].map((end) => end?.getTime() ?? Infinity);
      expect(both?.getTime() ?? Infinity).toBe(Math.max(...alone));
    }),
  );
});

test('each other account delays by what it has, and by no more than this account has itself', () => {
  expect(aheadInTurns(100, [])).toBe(100);
  expect(aheadInTurns(100, [30, 5_000])).toBe(230);
  fc.assert(
    fc.property(aheads, fc.array(aheads, { maxLength: 5 }), (own, others) => {
      const ahead = aheadInTurns(own, others);
      expect(ahead).toBeGreaterThanOrEqual(own);
      expect(ahead).toBeLessThanOrEqual((others.length + 1) * own);
      expect(aheadInTurns(own + 1, others)).toBeGreaterThan(ahead);
    }),
  );
});

test("a batch waits for the account's earlier ones and for its turn, and names what is down; a completed one has no forecast", async () => {
  const [first, second] = ['0190aaaa-0000-7000-8000-000000000000', '0190bbbb-0000-7000-8000-000000000000'];
  let reads = 0;
  const forecast = forecastBatches({
    conditions: async () => ({
      outlooks: new Map<MemberState, StateOutlook>([
        ['DE', outlookOf([tally(1, 60, 500, 60)], [], null, NOW)],
        ['FR', outlookOf([tally(0, 30, 100, 0, 'unavailable')], [], null, NOW)],
      ]),
      backlog: [
        { memberState: 'DE', accountId: 'me', requests: 120 },
        { memberState: 'DE', accountId: 'other', requests: 30 },
      ],
    }),
    readRemaining: async () => {
      reads += 1;
      return [
        { batchId: first, memberState: 'DE', requests: 60 },
        { batchId: second, memberState: 'DE', requests: 60 },
      ];
    },
    now: () => NOW,
  });
  const running = { status: 'running', createdAt: before(1) } as const;
  expect(await forecast('me', [{ id: first, ...running, status: 'completed' }])).toEqual(new Map());
  expect(reads).toBe(0);
  const forecasts = await forecast('me', [
    { id: first, ...running },
    { id: second, ...running },
  ]);
  expect(secondsUntil(forecasts.get(first)?.eta ?? null)).toBe(90);
  expect(secondsUntil(forecasts.get(second)?.eta ?? null)).toBe(150);
  const added = await forecast(
    'me',
    [{ id: second, ...running }],
    [{ batchId: second, memberState: 'FR', requests: 1 }],
  );
  expect(added.get(second)).toEqual({ eta: null, waitingFor: ['FR'] });
});

test('batches are left without a forecast when what it needs cannot be read in time', async () => {
  const failures: unknown[] = [];
  const late = new Error('canceling statement due to statement timeout');
  const forecast = forecastBatches({
    conditions: () => Promise.reject(late),
    readRemaining: async () => [],
    now: () => NOW,
  });
  const batches = [{ id: 'a', status: 'running', createdAt: NOW }] as const;
  await expect(forecast('account', batches)).rejects.toBe(late);
  expect(await forecastIfPossible(forecast, (error) => failures.push(error))('account', batches)).toEqual(new Map());
  expect(failures).toEqual([late]);
});
