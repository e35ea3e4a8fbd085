import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  issueKeys,
  numberSequence,
  postCheck,
  readLedger,
  reportFigure,
  runProgram,
  startWorld,
  until,
  type World,
} from '@vat/testkit';

let world: World;
beforeAll(async () => {
  world = await startWorld({
    ownProcesses: true,
    workers: 1,
    // Lookups stay open while another worker starts, which on a busy machine takes ten seconds.
    settings: { UPSTREAM_WINDOW: '50s', UPSTREAM_ATTEMPT_TIMEOUT: '40s', BACKGROUND_GIVE_UP_AFTER: '10m' },
  });
});
afterAll(() => world?.stop());
beforeEach(() => world.vies.reset());

const nextNumber = numberSequence();
const postTo = async (baseUrl: string, vatNumber: string) => {
  const [key = ''] = await issueKeys(world, 1);
  return postCheck(baseUrl, key, vatNumber);
};
const lookupsOf = async (state: string) => (await world.vies.stats()).states[state]?.in_flight ?? 0;
const noneOpen = async () => (await readLedger(world)).open === 0;
const since = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

test('a stopping API answers its waiting calls 202 and exits with 0', async () => {
  await world.vies.state('DE', { latency_ms: 3_000 });
  const api = await world.startApi();
  const calls = Array.from({ length: 10 }, () => postTo(String(api.ready.base_url), nextNumber('DE')));
  await until('two lookups', async () => (await lookupsOf('DE')) === 2);
  await until('ten rows', async () => (await readLedger(world)).open === 10);
  api.signal('SIGTERM');
  const signalledAt = performance.now();
  const answers = await Promise.all(calls);
  expect(api.lines().filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
  expect(since(signalledAt)).toBeLessThan(3);
  expect(await api.exited).toBe(0);
  expect(since(signalledAt)).toBeLessThan(5);
  reportFigure(`shutdown: the API ended after ${since(signalledAt).toFixed(1)} s`);
  await world.vies.reset();
  await until('every request to end', noneOpen);
  expect(await readLedger(world)).toMatchObject({ accepted: 10, acceptedWithoutOneEvent: 0, reserved: 0 });
});

test('a stopping worker reschedules its open lookups uncounted, and another worker continues', async () => {
  await world.vies.state('IT', { answer: { kind: 'hang' } });
  const [worker] = world.workers;
  if (!worker) throw new Error('the world has no worker');
  const calls = [nextNumber('IT'), nextNumber('IT')].map((vatNumber) => postTo(world.baseUrl(), vatNumber));
  await until('both lookups', async () => (await lookupsOf('IT')) === 2);
  const next = await world.startWorker();
  // The two hang on; the next worker's lookups are answered.
  await world.vies.state('IT', { answer: { kind: 'valid' } });
  worker.signal('SIGTERM');
  const signalledAt = performance.now();
  const probe = await fetch(`http://127.0.0.1:${String(worker.ready.metrics_port)}/readyz`);
  expect(probe.status).toBe(503);
  expect(await probe.json()).toMatchObject({ status: 'stopping' });
  // The next worker looks up at once, so the aborted ones are counted instead of the open ones.
  await until('the lookups to be aborted', async () => (await world.vies.stats()).states.IT?.aborted === 2, 9_000);
  await world.vies.reset();
  expect(await worker.exited).toBe(0);
  expect(since(signalledAt)).toBeLessThan(10);
  reportFigure(`shutdown: the worker ended after ${since(signalledAt).toFixed(1)} s`);
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([201, 201]);
  const attempts = await world.sql<{ attempts: number }>("SELECT attempts FROM request WHERE country_code = 'IT'");
  expect(attempts).toEqual([{ attempts: 1 }, { attempts: 1 }]);
  world.workers.splice(0, world.workers.length, next);
});

test('a stopping worker waits for an open lookup that is answered soon', async () => {
  await world.vies.state('PL', { latency_ms: 1_000 });
  const [worker] = world.workers;
  const call = postTo(world.baseUrl(), nextNumber('PL'));
  await until('the lookup', async () => (await lookupsOf('PL')) === 1);
  worker?.signal('SIGTERM');
  expect(await worker?.exited).toBe(0);
  expect((await world.vies.stats()).states.PL).toMatchObject({ total: 1, answered: 1, aborted: 0 });
  world.workers.splice(0, 1);
  await world.startWorker();
  expect((await call).status).toBe(201);
});

test.each(['api', 'worker'])('the %s ends when the process that started it is gone', async (app) => {
  const file = fileURLToPath(new URL(`../../${app}/dist/main.js`, import.meta.url));
  // The parent starts the program, says so once it is ready, and dies without a word to it.
  const parent = spawn(
    process.execPath,
    [
      '--input-type=module',
      '--eval',
      `import { fork } from 'node:child_process';
       const child = fork(${JSON.stringify(file)}, { stdio: 'ignore', execArgv: [] });
       child.once('message', () => { console.log(child.pid); });`,
    ],
    { env: { ...world.settings, PATH: path.dirname(process.execPath) }, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const gone = new Promise((resolve) => parent.once('close', resolve));
  const pid = await new Promise<number>((resolve) => parent.stdout.once('data', (chunk) => resolve(Number(chunk))));
  const isAlive = () => {
    try {
      process.kill(pid, 0);
      return true;
    } catch {
      return false;
    }
  };
  expect(isAlive()).toBe(true);
  parent.kill('SIGKILL');
  await gone;
  await until('the orphan to end', () => !isAlive());
});

test.each([
  ['apps/worker/dist/main.js', { WORKER_QUEUES: 'nonsense' }, /WORKER_QUEUES names nonsense; known are checks/],
  ['apps/worker/dist/main.js', { ENRICHMENT_SOURCES: ' , ' }, /ENRICHMENT_SOURCES has no name in it: write none/],
  ['apps/worker/dist/main.js', { WORKER_MEMBER_STATES: 'GB' }, /WORKER_MEMBER_STATES names GB/],
  ['apps/worker/dist/main.js', { DATABASE_URL: '' }, /DATABASE_URL: must be set/],
  ['apps/worker/dist/main.js', { DATABASE_URL: 'vat' }, /DATABASE_URL: expected an address like postgresql:\/\//],
  ['apps/worker/dist/main.js', { SLOTS_DATABASE_URL: 'mysql://h/vat' }, /SLOTS_DATABASE_URL: expected an address/],
  ['apps/worker/dist/main.js', { HOST: '203.0.113.1' }, /correct HOST or METRICS_PORT \(.*EADDRNOTAVAIL/],
  ['apps/worker/dist/main.js', { SWEEP_EVERY: 'soon' }, /SWEEP_EVERY/],
  ['apps/api/dist/main.js', { DATABASE_URL: '' }, /DATABASE_URL: must be set/],
  [
    'apps/api/dist/main.js',
    { DATABASE_URL: 'postgresql://u:50%@h/vat' },
    /DATABASE_URL: a % .* must be written as %25/,
  ],
  ['apps/api/dist/main.js', { UPSTREAM_WINDOW: '20 parsecs' }, /UPSTREAM_WINDOW/],
])('%s with %j exits with 78 and one line with the reason', async (file, settings, message) => {
  const ended = await runProgram(file, [], { ...world.settings, ...settings } as Record<string, string>, true);
  expect(ended.code).toBe(78);
  const lines = `${ended.stdout}${ended.stderr}`.split('\n').filter((line) => line !== '');
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(message);
});

test.each([
  ['is taken', 1, () => ({ PORT: new URL(world.baseUrl()).port }), /Port \d+ is in use/],
  ['is not of this machine', 78, () => ({ HOST: '203.0.113.1' }), /correct HOST or PORT/],
])(
  'an API whose address %s exits with %i and says which setting to correct',
  async (_what, code, settings, message) => {
    const ended = await runProgram('apps/api/dist/main.js', [], { ...world.settings, ...settings() }, true);
    expect(ended.code).toBe(code);
    expect(`${ended.stdout}${ended.stderr}`).toMatch(message);
  },
);
