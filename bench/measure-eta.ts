import { bucketOf, DURATION_BOUNDS_MS, type MemberState, USUAL_DAYS } from '@vat/domain';
import { insertAccount, type TestAccount, until, uploadBatch, type World } from '@vat/testkit';
import { renderTable } from './measuring.js';
import { inWorld } from './open-world.js';
import { uniqueNumber } from './unique-number.js';

/** How far the estimates of one batch were off: the error of the remaining time by the share of the batch's time. */
export type EtaFigures = {
  scenario: string;
  lines: number;
  seconds: number;
  /** `null`: there was no estimate. 0.3 is an end that was expected 30 % later than it was. */
  errors: Record<'start' | 'quarter' | 'half' | 'three_quarters', number | null>;
};

const STATES = ['DE', 'FR', 'PL'] as const satisfies readonly MemberState[];
const LATENCY_MS = 400;
/** About the lines that a member state ends in a second. */
const LINES_PER_S = 4;
const WITHIN_MS = 1_800_000;
const SHARES = { start: 0, quarter: 0.25, half: 0.5, three_quarters: 0.75 } as const;

type Sample = { at: number; eta: number | null };

/** Fills the hours of past days of a member state with lookups that took `durationMs`. */
const insertUsual = async ({ sql }: World, memberState: MemberState, durationMs: number): Promise<void> => {
  const buckets = new Array<number>(DURATION_BOUNDS_MS.length + 1).fill(0);
  buckets[bucketOf(durationMs)] = 3_600;
  await sql(
    `INSERT INTO upstream_hour (hour, member_state, answered, saturated, unavailable, buckets)
     SELECT date_trunc('hour', now()) - h * interval '1 hour', $1, 3600, 0, 0, $2 FROM generate_series(1, $3::int) AS h`,
    [memberState, buckets, 24 * USUAL_DAYS],
  );
};

/** Uploads lines of every member state and follows the estimate until the batch is completed. */
const follow = async (
  world: World,
  account: TestAccount,
  { perState, from, scenario }: { perState: number; from: number; scenario: string },
): Promise<EtaFigures> => {
  const numbers = STATES.flatMap((state) => Array.from({ length: perState }, (_, n) => uniqueNumber(state, from + n)));
  const startedAt = Date.now();
  const { body, status } = await uploadBatch(world, `vat_number\n${numbers.join('\n')}`, { key: account.live_key });
  if (status !== 201) throw new Error(`the upload was answered ${status}`);
  const sampleOf = ({ eta = null }: { batch_id: string; eta?: string | null }): Sample => ({
    at: Date.now(),
    eta: eta === null ? null : Date.parse(eta),
  });
  const samples: Sample[] = [sampleOf(body)];
  const end = await until(
    'the batch',
    async () => {
      const shown = await world.http(account.live_key).get(`/v1/batches/${body.batch_id}`);
      samples.push(sampleOf(shown.body));
      return shown.body.completed_at !== null && Date.parse(shown.body.completed_at);
    },
    WITHIN_MS,
  );
  const errorAt = (share: number): number | null => {
    const sample = samples.find(({ at }) => at >= startedAt + share * (end - startedAt)) ?? samples[0];
    if (!sample || sample.eta === null) return null;
    return Math.round((100 * (sample.eta - end)) / (end - sample.at)) / 100;
  };
  return {
    scenario,
    lines: numbers.length,
    seconds: Math.round((end - startedAt) / 1_000),
    errors: {
      start: errorAt(SHARES.start),
      quarter: errorAt(SHARES.quarter),
      half: errorAt(SHARES.half),
      three_quarters: errorAt(SHARES.three_quarters),
    },
  };
};

type Scenario = { name: string; usualMs: Partial<Record<MemberState, number>>; shares: readonly number[] };

/** `usualMs`: durations of past days. `shares`: of the lines, for each account that uploads. */
const SCENARIOS: readonly Scenario[] = [
  { name: 'steady, no history', usualMs: {}, shares: [1] },
  { name: 'FR usually twice as slow at this hour', usualMs: { DE: 400, FR: 800, PL: 400 }, shares: [1] },
  { name: 'two accounts', usualMs: {}, shares: [1, 0.4] },
];

/** Follows the estimates of batches that take about `seconds` each. */
export const measureEta = async (seconds: number, onScenario: (name: string) => void): Promise<EtaFigures[]> => {
  const figures: EtaFigures[] = [];
  for (const { name, usualMs, shares } of SCENARIOS) {
    onScenario(name);
    const followed = await inWorld({ latencyMs: LATENCY_MS, apis: 1, workers: 1 }, async (world) => {
      for (const [state, ms] of Object.entries(usualMs)) await insertUsual(world, state as MemberState, ms);
      const perState = Math.round(seconds * LINES_PER_S);
      const runs = shares.map(async (share, n) => {
        const account = await insertAccount(world);
        const scenario = shares.length === 1 ? name : `${name}, the one with ${share * 100} % of the lines`;
        return follow(world, account, { perState: Math.round(perState * share), from: n * perState, scenario });
      });
      return Promise.all(runs);
    });
    figures.push(...followed);
  }
  return figures;
};

const percent = (error: number | null): string => (error === null ? '–' : `${Math.round(100 * error)} %`);

/** The figures as Markdown. */
export const renderEta = (figures: readonly EtaFigures[]): string[] => [
  '### Estimated end of batches: error of the remaining time, by the share of the time that has passed',
  renderTable(
    ['scenario', 'lines', 'seconds', 'start', 'quarter', 'half', 'three quarters'],
    figures.map(({ scenario, lines, seconds, errors }) => [
      scenario,
      lines,
      seconds,
      percent(errors.start),
      percent(errors.quarter),
      percent(errors.half),
      percent(errors.three_quarters),
    ]),
  ),
];
