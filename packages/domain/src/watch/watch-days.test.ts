import { newUuid } from '../ids.js';
import { bucketOf, DURATION_BOUNDS_MS } from '../member-state-health.js';
import { MEMBER_STATES, type MemberState } from '../member-states.js';
import { nextAfterMiss, nextCheckAt } from './run-watch.js';
import { randomFrom, type SimulatedRun, type SimulatedWatch, simulateWatches } from './simulate-watches.fixture.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WATCHES = 50_000;
/** A Monday at eight; hours are counted from here. */
const START = new Date('2026-11-16T08:00:00.000Z');
const hour = (n: number): Date => new Date(START.getTime() + n * HOUR_MS);
const OUTAGE = { memberState: 'DE', from: 1, hours: 6 } as const;
/** The day after the one of the outage. */
const NEXT_DAY = { from: 16, until: 40 } as const;

/** Shares of the watches, in per cent; the other member states have the rest in equal parts. */
const SHARES: Partial<Record<MemberState, number>> = { DE: 20, FR: 12, IT: 12, ES: 10, PL: 8, NL: 7, AT: 5, BE: 5 };
const CROWDED: readonly MemberState[] = ['DE', 'FR', 'IT', 'ES'];

const buckets = (counts: Record<number, number>): number[] => {
  const all = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  for (const [ms, n] of Object.entries(counts)) all[bucketOf(Number(ms))] = n;
  return all;
};
const BUSY = buckets({ 300: 10, 600: 25, 900: 25, 1400: 20, 2200: 10, 4500: 7, 10000: 3 });
const QUIET = buckets({ 200: 20, 300: 40, 600: 25, 900: 10, 2200: 5 });
const REFUSED = buckets({ 200: 1 });

/** The hours of a working day: the large member states refuse more than every second lookup during office hours. */
const historyOf = (memberState: MemberState, at: number) => {
  const hourOfDay = Math.floor(at / HOUR_MS) % 24;
  const office = hourOfDay >= 7 && hourOfDay < 17;
  if (!office) return { answered: 96, saturated: 2, unavailable: 2, buckets: QUIET };
  if (memberState === 'DE') return { answered: 40, saturated: 55, unavailable: 5, buckets: BUSY };
  if (CROWDED.includes(memberState)) return { answered: 65, saturated: 30, unavailable: 5, buckets: BUSY };
  return { answered: 92, saturated: 5, unavailable: 3, buckets: BUSY };
};

const daily = (dueAt: (id: string) => Date): SimulatedWatch[] => {
  const rest = (100 - Object.values(SHARES).reduce((sum, n) => sum + n, 0)) / (28 - Object.keys(SHARES).length);
  return MEMBER_STATES.flatMap((memberState) =>
    Array.from({ length: Math.round(((SHARES[memberState] ?? rest) * WATCHES) / 100) }, (_, n): SimulatedWatch => {
      const id = newUuid();
      const accountId = ['large', 'large', 'large', 'middle', 'small'][n % 5] ?? '';
      const plan = { frequency: 'daily', plan: 'enterprise', monthlyQuota: null } as const;
      return {
        id,
        accountId,
        memberState,
        vatNumber: `${memberState}1`,
        ...plan,
        nextCheckAt: dueAt(id),
        lastCheckedAt: null,
      };
    }),
  );
};
const atOwnMoment = (id: string): Date => nextCheckAt(id, 'daily', hour(-12));

/** Runs that ended in each hour of the simulation. */
const byHour = (runs: readonly SimulatedRun[]): number[] => {
  const counts = new Array<number>(NEXT_DAY.until).fill(0);
  for (const { endedAt, answered } of runs) {
    const n = Math.floor((endedAt.getTime() - START.getTime()) / HOUR_MS);
    if (answered) counts[n] = (counts[n] ?? 0) + 1;
  }
  return counts;
};
const mean = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0) / counts.length;
const busiest = (counts: readonly number[]): number => Math.max(...counts) / mean(counts);

describe('50 000 daily watches, Germany down for six hours', () => {
  let watches: SimulatedWatch[];
  let runs: SimulatedRun[];
  let counts: number[];
  let german: number[];
  beforeAll(async () => {
    watches = daily(atOwnMoment);
    runs = await simulateWatches({
      watches,
      from: START,
      until: hour(NEXT_DAY.until),
      historyOf: (memberState, at) => {
        const since = (at - START.getTime()) / HOUR_MS - OUTAGE.from;
        const isDown = memberState === OUTAGE.memberState && since >= 0 && since < OUTAGE.hours;
        return isDown ? { answered: 0, saturated: 0, unavailable: 1, buckets: REFUSED } : historyOf(memberState, at);
      },
      directPerSecond: (memberState) => (CROWDED.includes(memberState) ? 0.05 : 0),
      random: randomFrom(1),
    });
    counts = byHour(runs);
    german = byHour(runs.filter(({ watch }) => watch.memberState === OUTAGE.memberState));
  });
  const ofNextDay = (of: readonly number[]): number[] => of.slice(NEXT_DAY.from, NEXT_DAY.until);

  test('every watch is checked on the next day, and none twice', () => {
    const checked = new Map<string, number>();
    for (const { watch, dueAt, answered } of runs)
      if (answered && dueAt >= hour(NEXT_DAY.from)) checked.set(watch.id, (checked.get(watch.id) ?? 0) + 1);
    expect(Math.max(...checked.values())).toBe(1);
    const unchecked = watches.filter(
      ({ lastCheckedAt }) => lastCheckedAt === null || lastCheckedAt < hour(NEXT_DAY.from),
    );
    expect(unchecked.length).toBeLessThan(WATCHES / 1_000);
  });

  test('no hour of the next day has much more than others, over all and in the member state that was down', () => {
    expect(ofNextDay(counts).reduce((sum, n) => sum + n, 0)).toBeGreaterThan(0.98 * WATCHES);
    expect(busiest(ofNextDay(counts))).toBeLessThan(1.25);
    expect(busiest(ofNextDay(german))).toBeLessThan(1.6);
  });

  test('what was missed is checked in the hours after the outage, which do not bunch either', () => {
    const down = german.slice(OUTAGE.from, OUTAGE.from + OUTAGE.hours);
    expect(down.every((n) => n < 10)).toBe(true);
    const after = counts.slice(OUTAGE.from + OUTAGE.hours, NEXT_DAY.from);
    expect(Math.max(...after) / mean(ofNextDay(counts))).toBeLessThan(2);
    const missed = runs.filter(
      ({ watch, dueAt }) => watch.memberState === OUTAGE.memberState && dueAt < hour(OUTAGE.from + OUTAGE.hours),
    );
    const caughtUp = missed.filter(({ endedAt }) => endedAt < hour(NEXT_DAY.from));
    expect(caughtUp.length).toBeGreaterThan(0.99 * missed.length);
  });
});

test('a run without an answer is due again at its own time of the day within the next 24 hours, also after a week', () => {
  const id = newUuid();
  for (const frequency of ['daily', 'weekly'] as const) {
    const next = nextCheckAt(id, frequency, START);
    const again = nextAfterMiss(next, hour(24));
    expect(again.getTime() % DAY_MS).toBe(next.getTime() % DAY_MS);
    expect(again.getTime() - hour(24).getTime()).toBeLessThan(DAY_MS);
  }
});
