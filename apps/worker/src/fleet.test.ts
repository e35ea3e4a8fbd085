import {
  callChecks,
  issueKeys,
  type NumberedState,
  numberOf,
  numberSequence,
  postCheck,
  readLedger,
  startWorld,
  type TestProcess,
  until,
  type World,
} from '@vat/testkit';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    workers: 0,
    settings: { UPSTREAM_WINDOW: '2s', BACKGROUND_GIVE_UP_AFTER: '10m', SWEEP_EVERY: '500ms' },
  });
});
afterAll(() => world?.stop());

const nextNumber = numberSequence();
const call = async (state: NumberedState) => {
  const [key = ''] = await issueKeys(world, 1);
  return (await postCheck(world.baseUrl(), key, nextNumber(state))).status;
};
const totalOf = async (state: string) => (await world.vies.stats()).states[state]?.total ?? 0;
const noneOpen = async () => (await readLedger(world)).open === 0;

const readMetrics = async (worker: TestProcess) =>
  (await fetch(`http://127.0.0.1:${String(worker.ready.metrics_port)}/metrics`)).text();
const servedBy = async (worker: TestProcess) => {
  const series = (await readMetrics(worker)).matchAll(/^vat_worker_serves\{role="(\w+)".*\} ([01])$/gm);
  return Object.fromEntries([...series].map(([, role, value]) => [role, Number(value)]));
};

test('a worker serves only its own member states and roles', async () => {
  const german = await world.startWorker({ WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'DE' });
  expect(await call('DE')).toBe(201);
  expect(await call('FR')).toBe(202);
  expect(await totalOf('FR')).toBe(0);
  const ready = await fetch(`http://127.0.0.1:${String(german.ready.metrics_port)}/readyz`);
  expect(((await ready.json()) as { queues: string[] }).queues).toEqual(
    expect.arrayContaining(['{upstream-DE}', '{settle}']),
  );
  // What no worker serves has an alert; mail, only where there is a mail server.
  const others = { webhooks: 0, batches: 0, watches: 0, evidence: 0 };
  expect(await servedBy(german)).toEqual({ checks: 1, ...others, maintenance: 0 });

  // Sweeps alone look nothing up.
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'vat@example.com' };
  const sweeping = await world.startWorker({ WORKER_QUEUES: 'maintenance', ...mail });
  expect(await servedBy(sweeping)).toEqual({ checks: 0, ...others, mail: 0, maintenance: 1 });
  // Its errors have an alert, which would miss the first one.
  expect(await readMetrics(sweeping)).toMatch(/^vat_job_errors_total\{queue="\{maintenance\}",service="worker"\} 0$/m);
  expect(await call('DE')).toBe(201);
  expect(await totalOf('FR')).toBe(0);

  await world.startWorker({ WORKER_QUEUES: 'checks,maintenance', WORKER_MEMBER_STATES: 'fr' });
  await until('the French request to end', noneOpen);
  expect(await totalOf('FR')).toBe(1);
  expect(await call('FR')).toBe(201);
});

test('a process that comes to a backlog gets its share of the slots', async () => {
  const serving = { WORKER_QUEUES: 'checks', WORKER_MEMBER_STATES: 'HR' };
  const [first, late] = [await world.startWorker(serving), await world.startWorker(serving)];
  const lookupsOf = async (worker: TestProcess): Promise<number> => {
    return Number(/^vat_upstream_ask_seconds_count\S* (\d+)$/m.exec(await readMetrics(worker))?.[1] ?? 0);
  };
  await world.vies.state('HR', { latency_ms: 50 });
  let used = 0;
  // Left to itself BullMQ hands the next job to the worker that finishes one: the first process would keep both slots.
  await until(
    'a backlog that the late one worked on as well',
    async () => {
      const [firstBefore, lateBefore] = [await lookupsOf(first), await lookupsOf(late)];
      late.signal('SIGSTOP');
      const calls = callChecks(
        world,
        Array.from({ length: 40 }, () => {
          used += 1;
          return numberOf('HR', used);
        }),
      );
      await until('the first to be at work', async () => (await lookupsOf(first)) - firstBefore >= 4);
      late.signal('SIGCONT');
      await calls;
      await until('the end of the backlog', noneOpen);
      return (await lookupsOf(late)) - lateBefore >= 10;
    },
    25_000,
  );
  expect((await world.vies.stats()).states.HR?.max_in_flight).toBeLessThanOrEqual(2);
});
