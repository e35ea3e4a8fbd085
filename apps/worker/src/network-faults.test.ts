import {
  type CheckAnswer,
  callChecks,
  faultSize,
  isFullSize,
  numberSequence,
  readLedger,
  reportFigure,
  type TcpProxy,
  type TestProcess,
  until,
  type World,
} from '@vat/testkit';
import { LINKS, type Link, type Network, openNetwork } from './network.fixture.js';

/** How long a part answers nothing, or slowly. */
const FROZEN_MS = faultSize(800, 60_000);
const SLOW_MS = faultSize(300, 5_000);
/** How often connections are cut or reset, one after the other. */
const BREAKS = faultSize(1, 5);
const WINDOW_MS = 1_000;
/** Answers that a failure shows: with all of them, its text would have megabytes. */
const SHOWN = 5;
/** How long after its window a call is answered at the latest, whatever is away. */
const ANSWERED_WITHIN_MS = 2_000;
const RECOVERED_WITHIN_MS = 20_000;
/**
 * Time-stamps of an authority that was away for long: it is called again after a minute, and the time-stamps that were not
 * requested meanwhile are due a minute after that at the latest.
 */
const STAMPED_WITHIN_MS = RECOVERED_WITHIN_MS + faultSize(0, 120_000);

let network: Network;
let world: World;
beforeAll(async () => {
  network = await openNetwork({ UPSTREAM_WINDOW: `${WINDOW_MS}ms` });
  world = network.world;
  // The first calls of a process compile its code.
  await until('a call answered 201', async () => (await callMany(8)).some(({ status }) => status === 201));
});
afterEach(() => network?.thaw());
afterAll(() => network?.close());

const nextNumber = numberSequence();
const callMany = (count: number): Promise<CheckAnswer[]> =>
  callChecks(
    world,
    Array.from({ length: count }, () => nextNumber()),
  );
/**
 * Eight calls every second, until this long has passed. More of them, accepted at once while Redis is away, would be refused with
 * TOO_MANY_PENDING.
 */
const callFor = async (ms: number): Promise<CheckAnswer[]> => {
  const startedAt = performance.now();
  const answers = await callMany(8);
  for (let seconds = 1; seconds * 1_000 <= ms; seconds += 1) {
    await until('the next second', () => performance.now() - startedAt > seconds * 1_000);
    answers.push(...(await callMany(8)));
  }
  return answers;
};
const slowest = (answers: CheckAnswer[]) => Math.max(...answers.map(({ ms }) => ms));
const inFlight = async () => (await world.vies.stats()).totals.in_flight > 0;

type Disturbed = CheckAnswer & { fault: string };

/** Each fault in turn, under calls. */
const disturb = async (links: readonly Link[]): Promise<Disturbed[]> => {
  const answers: Disturbed[] = [];
  const add = (fault: string, more: CheckAnswer[]) => answers.push(...more.map((answer) => ({ ...answer, fault })));
  const each = (apply: (through: TcpProxy, which: { greeting?: string }) => void) => {
    for (const link of links) apply(network.proxy(link), network.connectionsOf(link));
  };
  for (let n = 0; n < BREAKS; n += 1) {
    for (const fault of ['cut', 'reset'] as const) {
      const calls = callMany(8);
      await until('lookups in flight', inFlight);
      each((through, which) => through[fault](which));
      add(fault, await calls);
    }
  }
  each((through) => through.slow({ latencyMs: faultSize(5, 20), bytesPerSecond: 100_000 }));
  add('slow', await callFor(SLOW_MS));
  each((through) => through.slow({}));
  each((through, which) => through.freeze(which));
  add('frozen', await callFor(FROZEN_MS));
  // The server has given its clients up in the meantime: they learn it now.
  each((through, which) => through.cut({ ...which, side: 'server' }));
  each((through) => through.thaw());
  return answers;
};

type Left = { open: number; undelivered: number; unstamped: number };
/** What was promised and has not happened yet. */
const readLeft = async (): Promise<Left> => {
  const [left] = await world.sql<Left>(`
    SELECT (SELECT count(*)::int FROM request WHERE state IN ('waiting', 'pending')) AS open,
      (SELECT count(*)::int FROM delivery WHERE state = 'pending') AS undelivered,
      (SELECT count(*)::int FROM anchor a LEFT JOIN stamp s ON s.subject_id = a.id WHERE s.token IS NULL) AS unstamped`);
  if (left === undefined) throw new Error('the query returned no row');
  return left;
};
const lookupsOf = async (worker: TestProcess): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${String(worker.ready.metrics_port)}/metrics`)).text();
  return Number(/^vat_upstream_ask_seconds_count\S* (\d+)$/m.exec(text)?.[1] ?? 0);
};

/** The API answers 201 again, every worker looks up again, and what was promised has happened; each within the limit. */
const expectRecovery = async (what: string, answers: CheckAnswer[]) => {
  const backAt = performance.now();
  const seconds = () => ((performance.now() - backAt) / 1_000).toFixed(1);
  const before = await Promise.all(world.workers.map(lookupsOf));
  const resumed = await until(
    'a check answered 201, and lookups of every worker',
    async () => {
      const statuses = (await callMany(8)).map(({ status }) => status);
      const after = await Promise.all(world.workers.map(lookupsOf));
      return after.every((n, i) => n > (before[i] ?? 0)) && statuses.includes(201) && seconds();
    },
    RECOVERED_WITHIN_MS,
  );
  const isLeft = async (what: keyof Left) => (await readLeft())[what] > 0;
  await until('every request to end', async () => !(await isLeft('open')), RECOVERED_WITHIN_MS);
  await until('every delivery', async () => !(await isLeft('undelivered')), RECOVERED_WITHIN_MS);
  await until('every anchor to be stamped', async () => !(await isLeft('unstamped')), STAMPED_WITHIN_MS);
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  reportFigure(
    `network: ${what}: ${answers.length} calls (${count(201)} × 201, ${count(202)} × 202, ${count(500)} × 500), ` +
      `slowest ${(slowest(answers) / 1_000).toFixed(1)} s; all serve again after ${resumed} s, all ended after ${seconds()} s`,
  );
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject({
    open: 0,
    abandoned: 0,
    checks: ledger.completed,
    used: ledger.completed,
    reserved: 0,
    acceptedWithoutOneEvent: 0,
    needlessEvents: 0,
    unchargedChecks: 0,
  });
  expect(await world.sql("SELECT id FROM delivery WHERE state <> 'successful'")).toEqual([]);
  const states = Object.values((await world.vies.stats()).states);
  expect(Math.max(...states.map((state) => state.max_in_flight))).toBeLessThanOrEqual(2);
  for (const part of [...world.apis, ...world.workers])
    expect(await Promise.race([part.exited, 'running'])).toBe('running');
};

/** Only a call that cannot reach Postgres is refused; each is answered in time. */
const expectAnswered = (links: readonly Link[], answers: Disturbed[]) => {
  const mayRefuse = links.includes('api to postgres');
  const refused = answers.filter(({ status }) => status !== 201 && status !== 202 && !(mayRefuse && status === 500));
  expect(refused.slice(0, SHOWN)).toEqual([]);
  expect(
    answers
      .filter(({ ms }) => ms > WINDOW_MS + ANSWERED_WITHIN_MS)
      .map(({ fault, status, ms }) => ({ fault, status, ms })),
  ).toEqual([]);
};

/**
 * Those to Postgres at once, those to Redis, and those to other services. At full size each link to Postgres and to Redis by
 * itself; the other ones do not meet.
 */
const inGroups = (links: readonly Link[]): [string, readonly Link[]][] => {
  const groupOf = (link: Link) => {
    const server = /(postgres|redis)$/.exec(link)?.[1];
    return server === undefined ? 'others' : isFullSize() ? link : server;
  };
  return [...new Set(links.map(groupOf))].map((group) => [group, links.filter((link) => groupOf(link) === group)]);
};

test.each(inGroups(LINKS))(
  'connections cut, reset, slow and frozen, %s: every call is answered in time and nothing promised is lost',
  async (what, links) => {
    // Deliveries follow a 202.
    await world.vies.defaults({ latency_ms: links.includes('worker to receiver') ? WINDOW_MS + 100 : 100 });
    const accepted = () => links.map((link) => network.proxy(link).counts().accepted);
    const before = accepted();
    const answers = await disturb(links);
    await world.vies.reset();
    await expectRecovery(what, answers);
    expectAnswered(links, answers);
    // Otherwise the faults met no connection.
    for (const [i, count] of accepted().entries()) expect(count).toBeGreaterThan(before[i] ?? 0);
  },
  600_000,
);

/** The links whose connections stay open. Those on which a worker waits for jobs are replaced after 12 s: only at full size. */
const LASTING = LINKS.filter((link) => /(postgres|redis)$/.test(link) && (isFullSize() || link !== 'worker to redis'));

test.each(inGroups(LASTING))(
  'connections that the network forgot, %s, are replaced though no end of them ever arrives',
  async (what, links) => {
    await world.vies.defaults({ latency_ms: 100 });
    await callMany(8);
    const calls = callMany(8);
    await until('lookups in flight', inFlight);
    for (const link of links) {
      const which = network.connectionsOf(link);
      network.proxy(link).freeze({ ...which, existing: true });
      network.proxy(link).cut({ ...which, side: 'server' });
    }
    const answers = (await calls).map((answer) => ({ ...answer, fault: 'forgotten' }));
    await expectRecovery(`${what}, forgotten`, answers);
    expectAnswered(links, answers);
  },
);
