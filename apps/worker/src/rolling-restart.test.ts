import { request } from 'node:http';
import {
  configureWebhook,
  faultSize,
  issueKeys,
  NUMBERED_STATES,
  numberSequence,
  openReceivers,
  openTcpProxy,
  type Receivers,
  readLedger,
  reportFigure,
  startWorld,
  type TcpProxy,
  type TestProcess,
  type TestReceiver,
  until,
  uploadBatch,
  type World,
} from '@vat/testkit';
import { bundleEarlierRelease } from '@vat/testkit/earlier-release';

/** So many of each are of an earlier release at first, and so many of this one. */
const APIS = { earlier: 1, own: faultSize(1, 2) };
const WORKERS = { earlier: faultSize(1, 4), own: faultSize(1, 4) };
const CALLERS = faultSize(3, 8);
/** The member state that has a backlog of lines all the time, and how many of them it has at least: for twenty seconds. */
const BUSY = 'DE';
const BACKLOG = 100;
/** So long that both slots are in use nearly all the time, although a busy machine takes time between two lookups. */
const LOOKUP_MS = 400;
/**
 * A restart may leave a slot of a member state unused for a second. That holds where nothing else runs: beside other test files the
 * start of a process alone takes longer now and then, so that only a slot that waits for a time-out is seen (five seconds
 * at least).
 */
const IDLE_MS = faultSize(4_000, 1_000);

let receivers: Receivers;
let receiver: TestReceiver;
let world: World;
let balancer: TcpProxy;
/** How often the balancer checks whether each API process is ready; it uses new ones at once. */
const HEALTH_CHECK_MS = 100;
let healthChecks: NodeJS.Timeout;
const notReady = new Set<string>();
const urls = () => world.apis.map(({ ready }) => String(ready.base_url));
beforeAll(async () => {
  receivers = openReceivers();
  const earlier = await bundleEarlierRelease();
  world = await startWorld({
    ownProcesses: true,
    apis: 0,
    workers: 0,
    settings: {
      ...receivers.settings,
      UPSTREAM_WINDOW: '2s',
      UPSTREAM_ATTEMPT_TIMEOUT: '2s',
      BACKGROUND_RETRY_DELAYS: '500ms',
      BACKGROUND_GIVE_UP_AFTER: '30m',
      SWEEP_EVERY: '500ms',
      WEBHOOK_RETRY_DELAYS: '500ms,1s,2s,2s,2s',
      SHUTDOWN_DELAY: '1s',
      LOG_LEVEL: 'warn',
    },
  });
  await Promise.all([
    ...Array.from({ length: APIS.earlier }, () => world.startApi({}, { program: earlier.api })),
    ...Array.from({ length: WORKERS.earlier }, () => world.startWorker({}, { program: earlier.worker })),
    ...Array.from({ length: APIS.own }, () => world.startApi()),
    ...Array.from({ length: WORKERS.own }, () => world.startWorker()),
  ]);
  receiver = await receivers.start();
  await configureWebhook(world, world.account, receiver.url);
  healthChecks = setInterval(() => {
    for (const url of urls()) {
      fetch(`${url}/readyz`).then(
        ({ status }) => (status === 200 ? notReady.delete(url) : notReady.add(url)),
        () => notReady.add(url),
      );
    }
  }, HEALTH_CHECK_MS);
  let turn = 0;
  // In turn; a process that fails its health check, or does not accept a connection, is passed over.
  balancer = await openTcpProxy({
    to: () => {
      turn += 1;
      const all = urls();
      return all.map((_, n) => String(all[(turn + n) % all.length])).filter((url) => !notReady.has(url));
    },
  });
});
afterAll(async () => {
  clearInterval(healthChecks);
  await balancer?.close();
  await world?.stop();
  await receivers?.close();
});

const nextNumber = numberSequence(NUMBERED_STATES.filter((state) => state !== BUSY));
const baseUrl = () => `http://127.0.0.1:${balancer.port}`;

type Outcome = { what: 'check' | 'test event' | 'batch'; status: number; code: string | null };

/** One call through the balancer, with a connection of its own. Rejects when the connection breaks. */
const post = async (what: Outcome['what'], path: string, key: string, body: object): Promise<Outcome> => {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return new Promise((resolve, reject) => {
    request(`${baseUrl()}${path}`, { method: 'POST', agent: false, headers }, (response) => {
      response.toArray().then((chunks) => {
        const answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { error?: { code: string } };
        resolve({ what, status: response.statusCode ?? 0, code: answer.error?.code ?? null });
      }, reject);
    })
      .on('error', reject)
      .end(JSON.stringify(body));
  });
};

const lookupsInFlight = async () => (await world.vies.stats()).states[BUSY]?.in_flight ?? 0;

/** Calls one after another until it is stopped; a connection that breaks is recorded with status 0. */
const startLoad = async () => {
  const outcomes: Outcome[] = [];
  const keys = await issueKeys(world, CALLERS + 1);
  let stopped = false;
  const repeat = async (what: Outcome['what'], call: () => Promise<Outcome | null>) => {
    while (!stopped) {
      const outcome = await call().catch((error: NodeJS.ErrnoException) => ({
        ...{ what, status: 0, code: error.code ?? error.message },
      }));
      if (outcome !== null) outcomes.push(outcome);
      // It fails the test; repeating it would only load the machine.
      if (outcome?.status === 0) return;
    }
  };
  const waitingLines = async () => {
    const [row] = await world.sql<{ n: number }>(
      "SELECT count(*)::int AS n FROM request WHERE state = 'pending' AND country_code = $1",
      [BUSY],
    );
    return row?.n ?? 0;
  };
  const loops = [
    ...keys
      .slice(0, CALLERS)
      .map((key) => repeat('check', () => post('check', '/v1/checks', key, { vat_number: nextNumber() }))),
    repeat('test event', () => post('test event', '/v1/webhook/test', keys[CALLERS] ?? '', {})),
    repeat('batch', async () => {
      await until('fewer lines', async () => stopped || (await waitingLines()) < BACKLOG);
      if (stopped) return null;
      const lines = Array.from({ length: BACKLOG }, () => nextNumber(BUSY));
      const { status } = await uploadBatch({ ...world, baseUrl }, `vat_number\n${lines.join('\n')}\n`);
      return { what: 'batch', status, code: null };
    }),
  ];
  return {
    outcomes,
    stop: async () => {
      stopped = true;
      await Promise.all(loops);
    },
  };
};

/** Stops one process after the other with SIGTERM and starts its successor when it has exited. */
const restartEach = async (parts: TestProcess[], start: () => Promise<TestProcess>): Promise<number> => {
  const seconds: number[] = [];
  for (const old of [...parts]) {
    const startedAt = performance.now();
    old.signal('SIGTERM');
    expect(await old.exited).toBe(0);
    seconds.push((performance.now() - startedAt) / 1_000);
    parts.splice(parts.indexOf(old), 1);
    await start();
  }
  return Math.max(...seconds);
};

/** The longest time in which fewer than two lookups of the busy member state were in flight. */
const longestIdle = async (from: number, to: number): Promise<number> => {
  const lookups = (await world.vies.journal()).filter((entry) => entry.member_state === BUSY);
  const moments = lookups
    .flatMap(({ at, finished_at: end }) => [
      { at, change: 1 },
      { at: end ?? to, change: -1 },
    ])
    .sort((a, b) => a.at - b.at);
  let inFlight = 0;
  let idleSince: number | null = from;
  let longest = 0;
  const note = (at: number) => {
    if (idleSince !== null) longest = Math.max(longest, Math.min(at, to) - Math.max(idleSince, from));
  };
  for (const { at, change } of moments) {
    const before = inFlight;
    inFlight += change;
    if (before < 2 && inFlight >= 2) {
      note(at);
      idleSince = null;
    }
    if (before >= 2 && inFlight < 2) idleSince = at;
  }
  note(to);
  return longest;
};

test('a rolling restart from an earlier release under load answers no call with an error and loses nothing', async () => {
  await world.vies.defaults({ latency_ms: LOOKUP_MS });
  const everyProcess = new Set([...world.apis, ...world.workers]);
  const load = await startLoad();
  const times = { apis: 0, workers: 0, end: 0 };
  const slowestStop = { apis: 0, workers: 0 };
  try {
    await until('both slots to be in use', async () => (await lookupsInFlight()) === 2);
    times.apis = Date.now();
    slowestStop.apis = await restartEach(world.apis, () => world.startApi());
    times.workers = Date.now();
    slowestStop.workers = await restartEach(world.workers, () => world.startWorker());
    times.end = Date.now();
  } finally {
    await load.stop();
  }
  await world.vies.defaults({ latency_ms: 0 });
  for (const part of [...world.apis, ...world.workers]) everyProcess.add(part);
  const { outcomes } = load;
  await until('every request to end', async () => (await readLedger(world)).open === 0);
  // Its event comes after the end of its last line, and has a delivery.
  await until(
    'every batch to be completed',
    async () => (await world.sql("SELECT id FROM batch WHERE state <> 'completed'")).length === 0,
  );
  await until(
    'every delivery to end',
    async () => (await world.sql("SELECT id FROM delivery WHERE state = 'pending'")).length === 0,
  );
  const idle = {
    apis: await longestIdle(times.apis, times.workers),
    workers: await longestIdle(times.workers, times.end),
  };
  const count = (what: Outcome['what']) => outcomes.filter((outcome) => outcome.what === what).length;
  reportFigure(
    `rolling restart: ${APIS.earlier + APIS.own} API processes and ${WORKERS.earlier + WORKERS.own} workers in ${((times.end - times.apis) / 1_000).toFixed(1)} s ` +
      `(at most ${slowestStop.apis.toFixed(1)} and ${slowestStop.workers.toFixed(1)} s to stop one); ` +
      `${count('check')} checks, ${count('test event')} test events, ${count('batch')} batches of ${BACKLOG} lines; ` +
      `a slot was idle for at most ${Math.round(idle.apis)} ms and ${Math.round(idle.workers)} ms`,
  );
  const expected = { check: [201, 202], 'test event': [202], batch: [201] };
  const errors = [...everyProcess].flatMap((part) => part.lines()).filter((line) => line.includes('"level":"error"'));
  expect(errors).toEqual([]);
  expect(outcomes.filter(({ what, status }) => !expected[what].includes(status))).toEqual([]);

  const ledger = await readLedger(world);
  expect(ledger).toMatchObject({
    ...{ abandoned: 0, withdrawn: 0, checks: ledger.completed, used: ledger.completed, reserved: 0 },
    ...{ acceptedWithoutOneEvent: 0, needlessEvents: 0, unchargedChecks: 0 },
  });
  expect(ledger.requests).toBe(count('check') + count('batch') * BACKLOG);
  expect(await world.sql("SELECT id FROM delivery WHERE state <> 'successful'")).toEqual([]);
  const states = Object.values((await world.vies.stats()).states);
  expect(Math.max(...states.map((state) => state.max_in_flight))).toBe(2);
  expect(idle.apis).toBeLessThan(IDLE_MS);
  expect(idle.workers).toBeLessThan(IDLE_MS);
}, 600_000);
