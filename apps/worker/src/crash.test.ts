import { randomInt } from 'node:crypto';
import {
  faultSize,
  issueKeys,
  numberSequence,
  openWorldRedis,
  postCheck,
  readLedger,
  reportFigure,
  startWorld,
  type TestProcess,
  until,
  type World,
  type WorldRedis,
} from '@vat/testkit';

const ACCEPTED = faultSize(150, 5_000);
const KILLS = faultSize(4, 500);
/** Calls in hand at once; the rest of the schedule follows from what they are answered. */
const CALLERS = 24;

let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    apis: 2,
    workers: 2,
    settings: {
      UPSTREAM_WINDOW: '150ms',
      UPSTREAM_ATTEMPT_TIMEOUT: '2s',
      BACKGROUND_RETRY_DELAYS: '100ms',
      BACKGROUND_GIVE_UP_AFTER: '30m',
      SWEEP_EVERY: '500ms',
      LOG_LEVEL: 'warn',
    },
  });
  redis = await openWorldRedis(world);
});
afterAll(async () => {
  redis?.close();
  await world?.stop();
});

type Outcome =
  | { status: 201; checkId: string }
  | { status: 202; requestId: string }
  | { status: 'refused'; code: string }
  | 'cut';

test('kill -9 of API and worker processes loses nothing that was promised and charges nothing twice', async () => {
  await world.vies.defaults({ latency_ms: 20, jitter_ms: 250 });
  // Accounts hold at most 200 pending requests each, keys ten calls a second. Workers that are killed all the time fall behind
  // the callers, so that all of an account's may be pending at once.
  const accounts = Math.ceil(ACCEPTED / 150);
  await Promise.all(Array.from({ length: accounts }, () => world.newAccount({ quota: '1000000' })));
  const rows = await world.sql<{ id: string }>('SELECT id FROM account');
  const keys = (
    await Promise.all(rows.map(({ id }) => issueKeys(world, Math.ceil((CALLERS * 8) / rows.length), id)))
  ).flat();

  const outcomes: Outcome[] = [];
  const nextNumber = numberSequence();
  let calls = 0;
  const call = async (): Promise<Outcome> => {
    calls += 1;
    const api = world.apis[randomInt(world.apis.length)];
    try {
      const key = keys[calls % keys.length] ?? '';
      const { status, body } = await postCheck(String(api?.ready.base_url), key, nextNumber());
      if (status === 201) return { status: 201, checkId: String(body.id) };
      if (status === 202) return { status: 202, requestId: String(body.request_id) };
      return { status: 'refused', code: `${status} ${(body.error as { code: string } | undefined)?.code}` };
    } catch {
      // The process died under the call: the caller knows nothing, and was promised nothing.
      return 'cut';
    }
  };
  const accepted = () => outcomes.filter((outcome) => outcome !== 'cut' && outcome.status === 202).length;
  const callers = Array.from({ length: CALLERS }, async () => {
    while (accepted() < ACCEPTED) outcomes.push(await call());
  });

  const everyApi = new Set(world.apis);
  const replace = async (parts: TestProcess[], start: () => Promise<TestProcess>): Promise<void> => {
    const [victim] = parts.splice(randomInt(parts.length), 1);
    victim?.signal('SIGKILL');
    await victim?.exited;
    const next = await start();
    if (parts === world.apis) everyApi.add(next);
  };
  const killing = (async () => {
    for (let kills = 1; kills <= KILLS; kills += 1) {
      await until(
        'more accepted checks',
        () => accepted() >= Math.min(ACCEPTED, (kills * ACCEPTED) / (KILLS + 1)),
        600_000,
      );
      if (kills % 2 === 0) await replace(world.apis, () => world.startApi());
      else await replace(world.workers, () => world.startWorker());
    }
  })();
  await Promise.all([...callers, killing]);

  const stoppedAt = performance.now();
  await until('every request to end', async () => (await readLedger(world)).open === 0, 60_000);
  const seconds = (performance.now() - stoppedAt) / 1_000;
  const ledger = await readLedger(world);
  reportFigure(
    `crash: ${KILLS} kills over ${outcomes.length} calls, ${accepted()} answered 202, ${outcomes.filter((o) => o === 'cut').length} cut; ` +
      `${ledger.completed} completed, ${ledger.used} units; the last ended ${seconds.toFixed(1)} s after the last call`,
  );
  const failures = [...everyApi].flatMap((api) => api.lines()).filter((line) => line.includes('"level":"error"'));
  expect(failures).toEqual([]);
  // A call that is refused while its API is killed would be an error that the caller sees for no fault of his.
  expect(outcomes.filter((outcome) => outcome !== 'cut' && outcome.status === 'refused')).toEqual([]);
  expect(ledger).toMatchObject({
    abandoned: 0,
    checks: ledger.completed,
    used: ledger.completed,
    reserved: 0,
    acceptedWithoutOneEvent: 0,
    needlessEvents: 0,
    unchargedChecks: 0,
  });
  const sent = await world.sql<{ id: string }>("SELECT body::jsonb ->> 'request_id' AS id FROM event");
  const events = new Map<string, number>();
  for (const { id } of sent) events.set(id, (events.get(id) ?? 0) + 1);
  for (const outcome of outcomes) {
    if (outcome !== 'cut' && outcome.status === 202) expect(events.get(outcome.requestId)).toBe(1);
  }
  expect(events.size).toBeGreaterThanOrEqual(accepted());
  const stats = await world.vies.stats();
  for (const state of Object.values(stats.states)) expect(state.max_in_flight).toBeLessThanOrEqual(2);
  expect(await until('no job to be left', async () => (await redis.jobs()).length === 0)).toBe(true);
}, 3_600_000);
