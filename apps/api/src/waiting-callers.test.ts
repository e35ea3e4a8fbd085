import { type CallOutcome, callOnSchedule, faultSize, numberOf, startWorld, type World } from '@vat/testkit';

const CALLERS = faultSize(400, 3_000);
/** The calls arrive evenly within this time, and all of them wait at its end. */
const ARRIVAL_MS = faultSize(2_000, 12_000);
const WINDOW_MS = faultSize(5_000, 20_000);
const PER_ACCOUNT = 150;
const STATES = ['DE', 'IT', 'PL', 'FI', 'DK', 'EE', 'HU', 'PT', 'EL', 'HR', 'LV', 'FR'] as const;

let world: World;
let keys: string[];
beforeAll(async () => {
  world = await startWorld({
    settings: {
      UPSTREAM_WINDOW: `${WINDOW_MS}ms`,
      UPSTREAM_ATTEMPT_TIMEOUT: '60s',
      BACKGROUND_RETRY_DELAYS: '10m',
      BACKGROUND_GIVE_UP_AFTER: '1h',
    },
  });
  keys = await Promise.all(
    Array.from({ length: Math.ceil(CALLERS / PER_ACCOUNT) }, async () => (await world.newAccount()).live_key),
  );
  world.viesProcess.signal('SIGSTOP');
}, 60_000);
afterAll(async () => {
  world?.viesProcess.signal('SIGCONT');
  await world?.stop();
}, 60_000);

/** The n-th of the calls that wait for the upstream. */
const waitingCall = (n: number) => ({
  atMs: (n * ARRIVAL_MS) / CALLERS,
  path: '/v1/checks',
  key: keys[Math.floor(n / PER_ACCOUNT)] ?? '',
  body: JSON.stringify({ vat_number: numberOf(STATES[n % STATES.length] ?? 'DE', n) }),
});

const statuses = (outcomes: CallOutcome[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of outcomes) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** Reads in turn until it is stopped; resolves to the slowest of each path in milliseconds. Each must succeed. */
const watchReads = (paths: string[]) => {
  let stopped = false;
  const watching = (async () => {
    const slowest: Record<string, number> = {};
    const failed: string[] = [];
    while (!stopped) {
      for (const path of paths) {
        const startedAt = performance.now();
        const response = await fetch(`${world.baseUrl()}${path}`, {
          headers: { authorization: `Bearer ${world.account.live_key}` },
        });
        await response.text();
        if (response.status !== 200) failed.push(`${path} was answered ${response.status}`);
        slowest[path] = Math.max(slowest[path] ?? 0, performance.now() - startedAt);
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return { slowest, failed };
  })();
  return {
    stop: () => {
      stopped = true;
      return watching;
    },
  };
};

test(
  'thousands of calls that wait while VIES is away are answered 202 at the end of their windows, and reads stay fast',
  async () => {
    const reads = watchReads(['/healthz', '/v1/usage', '/v1/checks']);
    const calls = Array.from({ length: CALLERS }, (_, n) => waitingCall(n));
    const outcomes = await callOnSchedule(world, calls);
    const { slowest, failed } = await reads.stop();
    const late = outcomes.map(({ ms }) => ms - WINDOW_MS).sort((a, b) => a - b);
    process.stdout.write(
      `waiting callers: ${JSON.stringify({ failed, statuses: statuses(outcomes), slowest, late: [late[0], late[Math.floor(late.length / 2)], late.at(-1)] })}\n`,
    );
    expect(failed).toEqual([]);
    expect(statuses(outcomes)).toEqual({ 202: CALLERS });
    for (const { body } of outcomes) {
      const { created_at, accepted_at } = JSON.parse(body);
      expect(Math.abs(Date.parse(accepted_at) - Date.parse(created_at) - WINDOW_MS)).toBeLessThan(1_000);
    }
    for (const ms of Object.values(slowest)) expect(ms).toBeLessThan(1_000);
  },
  faultSize(60_000, 120_000),
);
