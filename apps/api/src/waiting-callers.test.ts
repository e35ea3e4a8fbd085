import {
  type CallOutcome,
  callOnSchedule,
  cpuSeconds,
  faultSize,
  isFullSize,
  numberOf,
  startWorld,
  type TestProcess,
  until,
  type World,
  watchLoop,
} from '@vat/testkit';

const CALLERS = faultSize(200, 3_000);
/** The calls arrive evenly within this time, and all of them wait at its end. */
const ARRIVAL_MS = faultSize(2_000, 12_000);
const WINDOW_MS = faultSize(5_000, 20_000);
/** A process that stops has eight seconds for them, also on a busy machine. */
const STOPPED_CALLERS = faultSize(200, 1_000);
const TOLERANCE_MS = 1_000;
/** The longest turn of the event loop, in milliseconds of the main thread: what `GET /healthz` waits for. */
const LONGEST_TURN_MS = 500;
/** Below the limit of pending requests of an account. */
const PER_ACCOUNT = 150;
const STATES = ['DE', 'IT', 'PL', 'FI', 'DK', 'EE', 'HU', 'PT', 'EL', 'HR', 'LV', 'FR'] as const;
const TEST_MS = faultSize(60_000, 300_000);

let world: World;
beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    settings: {
      UPSTREAM_WINDOW: `${WINDOW_MS}ms`,
      UPSTREAM_ATTEMPT_TIMEOUT: '50s',
      BACKGROUND_RETRY_DELAYS: '1h',
      BACKGROUND_GIVE_UP_AFTER: '2h',
    },
  });
  world.viesProcess.signal('SIGSTOP');
});
afterAll(async () => {
  world?.viesProcess.signal('SIGCONT');
  await world?.stop();
});

/** Calls for lookups that nobody answers, from as many accounts as the limit of pending requests demands. */
const waitingCalls = async (count: number) => {
  const accounts = Array.from({ length: Math.ceil(count / PER_ACCOUNT) }, () => world.newAccount());
  const keys = (await Promise.all(accounts)).map(({ live_key: key }) => key);
  return Array.from({ length: count }, (_, n) => ({
    atMs: (n * ARRIVAL_MS) / CALLERS,
    path: '/v1/checks',
    key: keys[n % keys.length] ?? '',
    body: JSON.stringify({ vat_number: numberOf(STATES[n % STATES.length] ?? 'DE', n) }),
  }));
};

const countStatuses = (outcomes: CallOutcome[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of outcomes) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

/** What was answered other than 202. */
const refusals = (outcomes: CallOutcome[]): string[] => [
  ...new Set(outcomes.filter(({ status }) => status !== 202).map(({ status, body }) => `${status} ${body}`)),
];

/** Calls paths in turn until it is stopped, and returns the statuses. */
const watchReads = (paths: string[]) => {
  const statuses = new Set<number>();
  let isStopped = false;
  const watching = (async () => {
    while (!isStopped) for (const path of paths) statuses.add((await world.http().get(path)).status);
  })();
  return {
    stop: async () => {
      isStopped = true;
      await watching;
      return [...statuses];
    },
  };
};

/** The slowest answer of each path but /v1/checks by POST, as the process logged it, in milliseconds. */
const slowestOf = (api: TestProcess): Record<string, number> => {
  const slowest: Record<string, number> = {};
  for (const line of api.lines()) {
    if (!line.includes('"Answered a request."') || line.includes('"POST"')) continue;
    const { path, duration_ms: ms } = JSON.parse(line) as { path: string; duration_ms: number };
    slowest[path] = Math.max(slowest[path] ?? 0, ms);
  }
  return slowest;
};

const transactions = async () =>
  (
    await world.sql<{ n: number }>(
      'SELECT xact_commit::int AS n FROM pg_stat_database WHERE datname = current_database()',
    )
  )[0]?.n ?? 0;

/** From the creation of each request to its acceptance, in milliseconds by the clock of the service. */
const waits = async (): Promise<number[]> =>
  (
    await world.sql<{ ms: number }>(
      `SELECT extract(epoch FROM accepted_at - created_at)::float8 * 1000 AS ms FROM request ORDER BY created_at`,
    )
  ).map(({ ms }) => ms);

test(
  'thousands of calls that wait while VIES is away are answered 202 at the end of their windows, and reads stay fast',
  async () => {
    const api = world.apis[0] as TestProcess;
    const calls = await waitingCalls(CALLERS);
    const [loop, reads] = [watchLoop(world), watchReads(['/v1/usage', '/v1/checks'])];
    const before = { cpu: cpuSeconds(api.pid), transactions: await transactions() };
    const outcomes = await callOnSchedule(world, calls);
    const read = await reads.stop();
    const longestTurn = await loop.stop();
    const waited = await waits();
    const figures = {
      statuses: countStatuses(outcomes),
      waited: [Math.min(...waited), Math.max(...waited)],
      slowest: slowestOf(api),
      longestTurn,
      cpu: cpuSeconds(api.pid) - before.cpu,
      transactions: (await transactions()) - before.transactions,
    };
    process.stdout.write(`waiting callers: ${JSON.stringify(figures)}\n`);
    expect(refusals(outcomes)).toEqual([]);
    expect(waited).toHaveLength(CALLERS);
    for (const ms of waited) expect(Math.abs(ms - WINDOW_MS)).toBeLessThan(TOLERANCE_MS);
    expect(read).toEqual([200]);
    expect(longestTurn).toBeLessThan(LONGEST_TURN_MS);
    // The time that a call takes depends on the load of the machine; only a full-size run has the machine to itself.
    if (isFullSize()) for (const ms of Object.values(figures.slowest)) expect(ms).toBeLessThan(1_000);
  },
  TEST_MS,
);

test(
  'a process that stops answers all of its waiting calls 202 at once',
  async () => {
    const api = await world.startApi({ UPSTREAM_WINDOW: '10m' });
    const count = async () => (await waits()).length;
    const before = await count();
    const calls = await waitingCalls(STOPPED_CALLERS);
    const calling = callOnSchedule({ baseUrl: () => String(api.ready.base_url) }, calls);
    await until('all calls to wait', async () => (await count()) === before + STOPPED_CALLERS, TEST_MS);
    api.signal('SIGTERM');
    expect(refusals(await calling)).toEqual([]);
    expect(await api.exited).toBe(0);
  },
  TEST_MS,
);
