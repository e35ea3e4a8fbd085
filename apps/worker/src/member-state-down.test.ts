import { setTimeout as pause } from 'node:timers/promises';
import { newUuid } from '@vat/domain';
import { cpuSeconds, faultSize, isFullSize, numberOf, reportFigure, startWorld, until, type World } from '@vat/testkit';

// Whether a member state is down is known by lookups alone, so the test reads the journal of the upstream.

type State = Parameters<typeof numberOf>[0];

const WAITING = faultSize(80, 10_000);
/** Lookups that show that a queue runs again. */
const RESUMED = 20;
/** A member state that is down is looked up this often at most; the settings in a full-size run are those of the service. */
const PROBE_DELAYS_MS = isFullSize() ? [5_000, 10_000] : [300, 600];
const UNANSWERED_IN_A_ROW = 5;
/** Lookups of both slots may be open when the fifth one ends. */
const OPEN_AT_ONCE = 2;
/** A clock that differs, and the way of a lookup from the process to the upstream. */
const TOLERANCE_MS = 60;
const RECOVERED_WITHIN_MS = 5_000;
/** Measured over this time, in a full-size run. */
const MEASURED_MS = 20_000;
const CORES = 0.1;

let world: World;
beforeAll(async () => {
  world = await startWorld({
    workers: 2,
    settings: {
      UPSTREAM_WINDOW: '700ms',
      BACKGROUND_RETRY_DELAYS: '1h',
      BACKGROUND_GIVE_UP_AFTER: '24h',
      PROBE_DELAYS: PROBE_DELAYS_MS.map((ms) => `${ms}ms`).join(),
      SWEEP_EVERY: isFullSize() ? '10s' : '500ms',
    },
  });
});
afterAll(() => world?.stop());

/** Inserts requests that were answered 202, of as many accounts as needed; the sweep enqueues them. */
const insertWaiting = async (state: State, count: number): Promise<void> => {
  const accounts = Array.from({ length: Math.ceil(count / 200) }, () => newUuid());
  await world.sql(
    `INSERT INTO account (id, name, plan, created_at) SELECT unnest($1::uuid[]), 'Waiting', 'enterprise', now()`,
    [accounts],
  );
  await world.sql(
    `INSERT INTO usage (account_id, period, used, reserved)
     SELECT unnest($1::uuid[]), to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM'), 0, 200`,
    [accounts],
  );
  const rows = Array.from({ length: count }, (_, n) => ({
    ...{ id: newUuid(), account_id: accounts[n % accounts.length], number: numberOf(state, 1_000 + n) },
  }));
  await world.sql(
    `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, accepted_at, give_up_at, due_at, quota_period)
     SELECT r.id, r.account_id, false, 'pending', r.number, $2, substr(r.number, 3), r.number, '[]', now(), now(), now(),
       now() + interval '7 days', now(), to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM')
     FROM jsonb_to_recordset($1::jsonb) AS r(id uuid, account_id uuid, number text)`,
    [JSON.stringify(rows), state],
  );
};
const lookupsOf = async (state: State) =>
  (await world.vies.journal()).filter(({ member_state }) => member_state === state);
const lookupsUntil = (state: State, count: number, withinMs = 30_000) =>
  until(
    `${count} lookups of ${state}`,
    async () => {
      const lookups = await lookupsOf(state);
      return lookups.length >= count && lookups;
    },
    withinMs,
  );
/** CPU seconds that the workers have used. */
const cpuOfWorkers = (): number => world.workers.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
/** The cores that each worker uses. The time is what is measured, so this waits for its length. */
const coresUsed = async (what: string, state: State): Promise<number> => {
  const [before, lookups] = [cpuOfWorkers(), (await lookupsOf(state)).length];
  await pause(MEASURED_MS);
  const cores = ((cpuOfWorkers() - before) * 1_000) / MEASURED_MS / world.workers.length;
  const made = (await lookupsOf(state)).length - lookups;
  reportFigure(
    `${what}, ${WAITING} requests waiting: ${cores.toFixed(3)} of a core for a worker, ${made} lookups in ${MEASURED_MS} ms`,
  );
  return cores;
};
/** Waits until every request of a member state has its job, so that only what repeats is measured. */
const enqueued = (state: State) =>
  until(`the jobs of ${state}`, async () => {
    const [{ swept } = {}] = await world.sql<{ swept: number }>(
      `SELECT count(*)::int AS swept FROM request WHERE country_code = $1 AND created_at < now() - interval '20 seconds'`,
      [state],
    );
    return swept === WAITING;
  });

test('a member state that is down is probed, others are looked up, and it resumes at full pace', async () => {
  await world.vies.state('HU', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
  await insertWaiting('HU', WAITING);
  const first = await lookupsUntil('HU', UNANSWERED_IN_A_ROW);
  if (isFullSize()) {
    await enqueued('HU');
    expect(await coresUsed('a member state that is down', 'HU')).toBeLessThan(CORES);
  }
  const scraped = await fetch(`http://127.0.0.1:${String(world.workers[0]?.ready.metrics_port)}/metrics`);
  expect(await scraped.text()).toMatch(
    /vat_oldest_wait_seconds\{queue="upstream",class="background",member_state="HU",service="worker"\} [\d.]+/,
  );
  const call = await world.http().post('/v1/checks', { vat_number: numberOf('HU', 1) });
  expect(call.status).toBe(202);
  expect((await world.http().post('/v1/checks', { vat_number: 'FR40303265045' })).status).toBe(201);
  const down = await lookupsUntil('HU', UNANSWERED_IN_A_ROW + OPEN_AT_ONCE + 2);
  expect(first.length).toBeLessThanOrEqual(UNANSWERED_IN_A_ROW + OPEN_AT_ONCE);
  const probes = down.slice(UNANSWERED_IN_A_ROW - 1 + OPEN_AT_ONCE).map(({ at }) => at);
  const gaps = probes.slice(1).map((at, n) => at - (probes[n] ?? 0));
  for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual((PROBE_DELAYS_MS[0] ?? 0) - TOLERANCE_MS);

  const lookupsBefore = down.length;
  await world.vies.state('HU', { answer: null });
  const [probe] = (await lookupsUntil('HU', lookupsBefore + 1, 90_000)).slice(lookupsBefore);
  const resumed = await lookupsUntil('HU', lookupsBefore + 1 + RESUMED);
  const tookMs = (resumed[lookupsBefore + RESUMED]?.at ?? 0) - (probe?.at ?? 0);
  reportFigure(`${RESUMED} lookups ${Math.round(tookMs)} ms after the first answer`);
  expect(tookMs).toBeLessThan(RECOVERED_WITHIN_MS);
  // What is left would be part of what the next test measures.
  await world.vies.state('HU', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' } });
}, 240_000);

test('a member state that is saturated is looked up at a slow pace', async () => {
  await world.vies.state('DK', { answer: { kind: 'error', code: 'MS_MAX_CONCURRENT_REQ' } });
  await insertWaiting('DK', WAITING);
  await lookupsUntil('DK', UNANSWERED_IN_A_ROW);
  if (isFullSize()) {
    await enqueued('DK');
    expect(await coresUsed('a member state that is saturated', 'DK')).toBeLessThan(CORES);
  }
  await world.vies.state('DK', { answer: null });
  const before = (await lookupsOf('DK')).length;
  await lookupsUntil('DK', before + RESUMED, RECOVERED_WITHIN_MS);
}, 240_000);
