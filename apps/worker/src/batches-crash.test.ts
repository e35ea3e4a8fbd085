import { randomInt } from 'node:crypto';
import { uuidOf } from '@vat/domain';
import {
  configureWebhook,
  faultSize,
  insertAccount,
  NUMBERED_STATES,
  type NumberedState,
  numberOf,
  openReceivers,
  openWorldRedis,
  type Receivers,
  readLedger,
  reportFigure,
  startWorld,
  until,
  uploadBatch,
  type World,
  type WorldRedis,
} from '@vat/testkit';

const LINES = faultSize(120, 10_000);
const KILLS = faultSize(2, 100);
const FLUSHES = faultSize(2, 20);
/** Of one member state, which are looked up two at a time. */
const LINES_OF_STATE = faultSize(120, 2_500);
const LONG_MS = faultSize(60_000, 1_800_000);
/** What the processor keeps in Redis of one member state's lines, over all accounts. */
const WINDOW = 12;

let receivers: Receivers;
let world: World;
let redis: WorldRedis;
beforeAll(async () => {
  receivers = openReceivers();
  world = await startWorld({
    ownProcesses: true,
    workers: 2,
    settings: { ...receivers.settings, BACKGROUND_GIVE_UP_AFTER: '1h', SWEEP_EVERY: '500ms', LOG_LEVEL: 'warn' },
  });
  redis = await openWorldRedis(world);
});
afterAll(async () => {
  redis?.close();
  await world?.stop();
  await receivers?.close();
});
beforeEach(() => world.vies.reset());

let numbers = 0;
/** Numbers never seen before, of the given member states in turn. */
const newNumbers = (count: number, states: readonly NumberedState[] = NUMBERED_STATES): string[] =>
  Array.from({ length: count }, () => {
    numbers += 1;
    return numberOf(states[numbers % states.length] ?? 'DE', numbers);
  });

/** An account with an endpoint. */
const subscribe = async () => {
  const [account, receiver] = await Promise.all([insertAccount(world), receivers.start()]);
  await configureWebhook(world, account, receiver.url);
  const upload = async (rows: string[]): Promise<string> => {
    const answer = await uploadBatch(world, ['vat_number', ...rows].join('\n'), { key: account.live_key });
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
    return answer.body.batch_id;
  };
  const endedLines = async (id: string): Promise<number> => {
    const [row] = await world.sql<{ n: number }>(
      `SELECT count(*)::int AS n FROM batch_line WHERE batch_id = $1 AND status <> 'queued'`,
      [uuidOf('batch', id)],
    );
    return row?.n ?? 0;
  };
  const completed = (id: string) =>
    until(
      'the batch to be completed',
      async () => {
        const { body } = await world.http(account.live_key).get(`/v1/batches/${id}`).expect(200);
        return body.status === 'completed' && body;
      },
      LONG_MS,
    );
  const usage = async () => (await world.http(account.live_key).get('/v1/usage').expect(200)).body;
  return { account, receiver, upload, endedLines, completed, usage };
};

/** What must be so after whatever happened: all done once, counted once, charged once, sent once. */
const expectLawful = async (
  { receiver, completed, usage }: Awaited<ReturnType<typeof subscribe>>,
  id: string,
  lines: number,
) => {
  expect(await completed(id)).toMatchObject({ total: lines, done: lines, failed: 0, valid: lines, invalid: 0 });
  expect(await usage()).toMatchObject({ used: lines, reserved: 0 });
  expect(await readLedger(world)).toMatchObject({ open: 0, needlessEvents: 0, unchargedChecks: 0, reserved: 0 });
  const shared = await world.sql(
    `SELECT check_id FROM batch_line WHERE batch_id = $1 GROUP BY check_id HAVING count(*) > 1`,
    [uuidOf('batch', id)],
  );
  expect(shared).toEqual([]);
  await until('the event to arrive', () => receiver.arrivals.length > 0);
  expect(new Set(receiver.arrivals.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(JSON.parse(receiver.arrivals[0]?.body ?? '')).toEqual({
    event: 'batch.completed',
    batch_id: id,
    total: lines,
    done: lines,
    failed: 0,
  });
  for (const [state, stats] of Object.entries((await world.vies.stats()).states))
    expect([state, stats.max_in_flight]).toEqual([state, Math.min(2, stats.max_in_flight)]);
};

test(
  'kill -9 of workers in the middle of a batch leaves its counts exact and its event sent once',
  async () => {
    await world.vies.defaults({ latency_ms: 60, jitter_ms: 60 });
    const subscriber = await subscribe();
    const id = await subscriber.upload(newNumbers(LINES));
    for (let kill = 1; kill <= KILLS; kill += 1) {
      await until(
        'some more lines to end',
        async () => (await subscriber.endedLines(id)) >= Math.floor((LINES * kill) / (KILLS + 2)),
        LONG_MS,
      );
      const [victim] = world.workers.splice(randomInt(world.workers.length), 1);
      victim?.signal('SIGKILL');
      await victim?.exited;
      await world.startWorker();
    }
    await expectLawful(subscriber, id, LINES);
    const lookups = (await world.vies.stats()).totals.total;
    reportFigure(`batches: ${KILLS} workers killed over ${LINES} lines, ${lookups} lookups`);
  },
  LONG_MS,
);

test(
  'Redis holds a window of lines, not all, and losing it in the middle of a batch loses no line',
  async () => {
    const state = 'DE';
    await world.vies.state(state, { latency_ms: 20 });
    const subscriber = await subscribe();
    const id = await subscriber.upload(newNumbers(LINES_OF_STATE, [state]));
    let most = 0;
    let looks = 0;
    const enough = async (lines: number): Promise<boolean> => {
      const jobs = await redis.jobs();
      // Jobs of ended lines do not count: one is on its way out, or was added by a sweep that read the line before its end.
      const [open] = await world.sql<{ n: number }>(
        `SELECT count(*)::int AS n FROM request WHERE id = ANY($1::uuid[]) AND state = 'pending'`,
        [jobs],
      );
      most = Math.max(most, open?.n ?? 0);
      looks += 1;
      return (await subscriber.endedLines(id)) >= lines;
    };
    for (let flush = 1; flush <= FLUSHES; flush += 1) {
      await until(
        'some more lines to end',
        () => enough(Math.floor((LINES_OF_STATE * flush) / (FLUSHES + 1))),
        LONG_MS,
      );
      expect(await redis.flush()).toBeGreaterThan(0);
    }
    await until('all lines to end', () => enough(LINES_OF_STATE), LONG_MS);
    await expectLawful(subscriber, id, LINES_OF_STATE);
    reportFigure(`batches: at most ${most} jobs of open lines in ${looks} looks at ${LINES_OF_STATE} lines`);
    expect(most).toBeLessThanOrEqual(WINDOW);
    expect(most).toBeGreaterThan(0);
  },
  LONG_MS,
);

test('the lines of an account that is disabled end within twenty seconds, those in Redis and those outside', async () => {
  const { account, upload, usage, completed } = await subscribe();
  await world.vies.state('LU', { answer: { kind: 'error', code: 'MS_UNAVAILABLE' }, latency_ms: 50 });
  const id = await upload(newNumbers(1_200, ['LU']));
  await until('lookups of its lines', async () => ((await world.vies.stats()).states.LU?.total ?? 0) > 3);
  await world.sql('UPDATE account SET disabled_at = now() WHERE id = $1', [uuidOf('account', account.account_id)]);
  const disabledAt = performance.now();
  expect(await completed(id)).toMatchObject({ done: 0, failed: 1_200 });
  expect(performance.now() - disabledAt).toBeLessThan(20_000);
  expect(
    await world.sql('SELECT DISTINCT error_code FROM batch_line WHERE batch_id = $1', [uuidOf('batch', id)]),
  ).toEqual([{ error_code: 'ACCOUNT_DISABLED' }]);
  expect(await usage()).toMatchObject({ used: 0, reserved: 0 });
});
