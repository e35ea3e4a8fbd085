import {
  callOnSchedule,
  faultSize,
  isFullSize,
  type PlannedCall,
  startWorld,
  type TestProcess,
  type World,
} from '@vat/testkit';

const UPLOADS = 30;
const LINES = faultSize(800, 10_000);
const PER_ACCOUNT = 5;
const CHECKS_PER_SECOND = 20;
const ALONE_MS = faultSize(1_000, 20_000);
/** Longer than the uploads take, so that checks run beside all of them. */
const BESIDE_MS = faultSize(6_000, 60_000);

let world: World;
beforeAll(async () => {
  // No worker processes the lines of the batches: what they cost is not the question here.
  world = await startWorld({
    ownProcesses: true,
    apis: 0,
    settings: { WORKER_QUEUES: 'checks', UPSTREAM_WINDOW: '10s' },
  });
  await world.startApi();
});
afterAll(() => world?.stop());

let numbers = 0;
const checksFor = (durationMs: number, keys: string[]): PlannedCall[] =>
  Array.from({ length: (durationMs / 1_000) * CHECKS_PER_SECOND }, (_, n) => {
    numbers += 1;
    return {
      atMs: (n * 1_000) / CHECKS_PER_SECOND,
      path: '/v1/checks',
      key: keys[n % keys.length] ?? '',
      body: JSON.stringify({ vat_number: `DE${100_000_000 + numbers}` }),
    };
  });
const file = (account: number): string =>
  `vat_number,note\n${Array.from({ length: LINES }, (_, n) => `FR${String(10_000_000_000 + account * LINES + n)},x${n}`).join('\n')}\n`;

/** Durations of the answers of the API that match, in milliseconds as the process measured them, in ascending order. */
const durations = (api: TestProcess, path: string, from: number): number[] =>
  api
    .lines()
    .slice(from)
    .filter((line) => line.includes('"Answered a request."') && line.includes(`"path":"${path}"`))
    .map((line) => (JSON.parse(line) as { duration_ms: number }).duration_ms)
    .sort((a, b) => a - b);
const quantile = (sorted: number[], share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;

test(
  'thirty concurrent uploads of 10 000 lines fail no direct check, and at most double their p99',
  async () => {
    const api = world.apis[0] as TestProcess;
    const direct = await Promise.all([1, 2, 3].map(async () => (await world.newAccount()).live_key));
    const uploaders = await Promise.all(
      Array.from({ length: UPLOADS / PER_ACCOUNT }, async () => (await world.newAccount()).live_key),
    );
    await callOnSchedule(world, checksFor(faultSize(500, 2_000), direct));
    const measure = async (calls: PlannedCall[]) => {
      const from = api.lines().length;
      const outcomes = await callOnSchedule(world, calls);
      const sorted = durations(api, '/v1/checks', from);
      return { outcomes, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), n: sorted.length, from };
    };
    const alone = await measure(checksFor(ALONE_MS, direct));
    const uploads = uploaders.flatMap((key, account) =>
      Array.from({ length: PER_ACCOUNT }, (_, n) => ({
        atMs: 1_000,
        path: '/v1/batches',
        key,
        type: 'text/csv',
        body: file(account * PER_ACCOUNT + n),
      })),
    );
    const beside = await measure([...checksFor(BESIDE_MS, direct), ...uploads]);
    const stored = durations(api, '/v1/batches', beside.from);
    process.stdout.write(
      `uploads beside checks: ${JSON.stringify({
        alone: [alone.p50, alone.p99],
        beside: [beside.p50, beside.p99],
        checks: [alone.n, beside.n],
        uploads: [stored[0], stored.at(-1)],
      })}\n`,
    );
    const statuses = (outcomes: { status: number }[]) => [...new Set(outcomes.map(({ status }) => status))];
    const checks = beside.outcomes.slice(0, -UPLOADS);
    expect(statuses([...alone.outcomes, ...checks]).filter((status) => status !== 201 && status !== 202)).toEqual([]);
    expect(statuses(beside.outcomes.slice(-UPLOADS))).toEqual([201]);
    // Durations depend on the load of the machine; only a full-size run has the machine to itself.
    if (isFullSize()) expect(beside.p99).toBeLessThan(2 * alone.p99);
  },
  faultSize(120_000, 300_000),
);
