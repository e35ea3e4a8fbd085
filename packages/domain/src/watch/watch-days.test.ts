import { newUuid } from '../ids.js';
import { bucketOf, DURATION_BOUNDS_MS } from '../member-state-health.js';
import { MEMBER_STATES, type MemberState } from '../member-states.js';
import { nextAfterMiss, nextCheckAt } from './run-watch.js';
import { randomFrom, type SimulatedRun, type SimulatedWatch, simulateWatches } from './simulate-watches.fixture.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WATCHES = 50_000;
/** A Monday. */
const START = new Date('2026-11-16T00:00:00.000Z');
const hour = (n: number): Date => new Date(START.getTime() + n * HOUR_MS);

/** Shares of the watches, in per cent; the other member states have the rest in equal parts. */
const SHARES: Partial<Record<MemberState, number>> = { DE: 20, FR: 12, IT: 12, ES: 10, PL: 8, NL: 7, AT: 5, BE: 5 };
const CROWDED: readonly MemberState[] = ['DE', 'FR', 'IT', 'ES'];

const buckets = (counts: Record<number, number>): number[] => {
  const all = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  for (const [ms, n] of Object.entries(counts)) all[bucketOf(Number(ms))] = n;
  return all;
};
const BUSY = buckets({ 300: 10, 600: 25, 900: 25, 1_400: 20, 2_200: 10, 4_500: 7, 10_000: 3 });
const QUIET = buckets({ 200: 20, 300: 40, 600: 25, 900: 10, 2_200: 5 });
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
      return { id, accountId, memberState, vatNumber: `${memberState}1`, ...plan, nextCheckAt: dueAt(id), lastCheckedAt: null };
    }),
  );
};
const atOwnMoment = (id: string): Date => nextCheckAt(id, 'daily', new Date(START.getTime() - 12 * HOUR_MS));

/** Runs that ended in each hour of the simulation. */
const byHour = (runs: readonly SimulatedRun[], hours: number): number[] => {
  const counts = new Array<number>(hours).fill(0);
  for (const { endedAt, answered } of runs) {
    const n = Math.floor((endedAt.getTime() - START.getTime()) / HOUR_MS);
    if (answered) counts[n] = (counts[n] ?? 0) + 1;
  }
  return counts;
};
const mean = (counts: readonly number[]): number => counts.reduce((sum, n) => sum + n, 0) / counts.length;
const busiest = (counts: readonly number[]): number => Math.max(...counts) / mean(counts);

test('probe', async () => {
  for (const outage of [false, true]) {
    const t = performance.now();
    const watches = daily(atOwnMoment);
    const runs = await simulateWatches({
      watches,
      from: START,
      until: hour(72),
      historyOf: (memberState, at) =>
        outage && memberState === 'DE' && at >= hour(9).getTime() && at < hour(15).getTime()
          ? { answered: 0, saturated: 0, unavailable: 1, buckets: REFUSED }
          : historyOf(memberState, at),
      directPerSecond: (memberState) => (CROWDED.includes(memberState) ? 0.1 : 0),
      random: randomFrom(1),
    });
    const of = runs.filter(({ watch }) => watch.memberState === 'DE');
    console.log(outage, performance.now() - t, runs.length, byHour(runs, 72).join(' '), '\nDE', byHour(of, 72).join(' '),
      '\nmissed', runs.filter((r) => !r.answered).length,
      'stale', watches.filter((w) => !w.lastCheckedAt || w.lastCheckedAt.getTime() < hour(46).getTime()).length,
      'late max h', runs.reduce((m, r) => Math.max(m, (r.endedAt.getTime() - r.dueAt.getTime()) / HOUR_MS), 0));
  }
}, 120_000);
