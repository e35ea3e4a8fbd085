import { runAlone } from '@vat/db';
import { newUuid, publicId, uuidOf } from '@vat/domain';
import { connectRedis, type RedisConnection } from '@vat/queues';
import {
  faultSize,
  issueKeys,
  NUMBERED_STATES,
  numberOf,
  numberSequence,
  openWorldRedis,
  postCheck,
  readLedger,
  reportFigure,
  startWorld,
  until,
  uploadBatch,
  type World,
  type WorldRedis,
} from '@vat/testkit';
import { connectTo } from './database.fixture.js';

let world: World;
let redis: WorldRedis;
let connection: RedisConnection;
beforeAll(async () => {
  world = await startWorld({
    workers: 0,
    settings: {
      UPSTREAM_WINDOW: '300ms',
      BACKGROUND_RETRY_DELAYS: '2s',
      BACKGROUND_GIVE_UP_AFTER: '10m',
      SWEEP_EVERY: '500ms',
    },
  });
  // Before anything runs: a trigger that is created or dropped later locks all of request, and can end in a deadlock with
  // statements of other tests.
  await world.sql(`
    CREATE TABLE refused_request (id uuid PRIMARY KEY);
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF EXISTS (SELECT FROM refused_request WHERE id = OLD.id) THEN RAISE 'refused by the test'; END IF;
      RETURN NEW;
    END $$;
    CREATE TRIGGER refuse BEFORE UPDATE ON request FOR EACH ROW WHEN (NEW.state = 'abandoned') EXECUTE FUNCTION refuse()`);
  redis = await openWorldRedis(world);
  connection = connectRedis(String(world.settings.REDIS_URL), 'consumer', () => undefined);
  await world.startWorker({ WORKER_QUEUES: 'checks' });
});
afterAll(async () => {
  redis?.close();
  connection?.disconnect();
  await world?.stop();
});
beforeEach(() => world.vies.reset());

const nextNumber = numberSequence();

type Row = { state: string; reason: string | null; accepted_at: Date | null; attempts: number };
const rowOf = async (id: string): Promise<Row | undefined> =>
  (await world.sql<Row>('SELECT state, reason, accepted_at, attempts FROM request WHERE id = $1', [id]))[0];

/** A row as an API process leaves it that dies right after the commit: with its unit reserved, without a job. */
const admit = async (columns: {
  accountId?: string;
  agoSeconds?: number;
  dueInSeconds?: number;
  answer?: object;
  accepted?: boolean;
}) => {
  const id = newUuid();
  const vatNumber = nextNumber();
  await world.sql(
    `WITH account AS (SELECT id FROM account WHERE id = COALESCE($7, id) ORDER BY created_at LIMIT 1), period AS (SELECT to_char(now(), 'YYYY-MM') AS text),
     reserved AS (
       INSERT INTO usage (account_id, period, used, reserved) SELECT account.id, period.text, 0, 1 FROM account, period
       ON CONFLICT (account_id, period) DO UPDATE SET reserved = usage.reserved + 1
     )
     INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
       window_ends_at, due_at, quota_period, answer, accepted_at, give_up_at)
     SELECT $1, account.id, false, CASE WHEN $5 THEN 'pending' ELSE 'waiting' END, $2, left($2, 2), substr($2, 3), $2, '[]',
       now() - make_interval(secs => $3), now(), now() + make_interval(secs => $4), period.text, $6::jsonb,
       CASE WHEN $5 THEN now() END, CASE WHEN $5 THEN now() + interval '10 minutes' END
     FROM account, period`,
    [
      id,
      vatNumber,
      columns.agoSeconds ?? 0,
      columns.dueInSeconds ?? 0,
      columns.accepted ?? false,
      columns.answer ? JSON.stringify(columns.answer) : null,
      columns.accountId ?? null,
    ],
  );
  return { id, vatNumber };
};

const newAccountId = async (): Promise<string> => uuidOf('account', (await world.newAccount()).account_id) ?? '';

/** Whether Redis has its schedule, and the sweep after a loss has ended. While that is under way the marker has another value. */
const primed = async () => (await connection.get(`${world.name}:primed`)) === '1';
const noneOpen = async () => (await readLedger(world)).open === 0;
const since = (startedAt: number): number => (performance.now() - startedAt) / 1_000;

test('a sweep waits for one that is under way: that of an operator, and that after a loss of Redis', async () => {
  await until('Redis to be primed', primed);
  const { id } = await admit({});
  const { db, close } = connectTo(world);
  try {
    let end: (() => void) | undefined;
    const underWay = runAlone(db)(
      'sweep',
      () =>
        new Promise<void>((resolve) => {
          end = resolve;
        }),
      // The sweep that primed Redis may not have ended yet.
      10_000,
    );
    await until('the sweep to be under way', () => end);
    await redis.flush();
    let ended = false;
    const reconciled = world.admin('reconcile').finally(() => {
      ended = true;
    });
    const waiting = async () =>
      (
        await world.sql<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity
           WHERE datname = current_database() AND query LIKE '%pg_try_advisory_xact_lock%' AND application_name <> 'vat-test'`,
        )
      ).length;
    await until('the worker and the operator to wait', async () => (await waiting()) >= 2);
    expect([ended, await primed(), await redis.jobs()]).toEqual([false, false, []]);
    end?.();
    await underWay;
    await reconciled;
    await until('Redis to be primed again', primed);
  } finally {
    await close();
  }
  await until('the request to end', async () => (await rowOf(id))?.state === 'completed');
});

test('the operator can have rows without a job finished at once', async () => {
  // No worker of this world serves the maintenance queue yet, so nobody sweeps by himself.
  await until('Redis to be primed', primed);
  const { id } = await admit({});
  expect(await world.admin('reconcile')).toMatchObject({ enqueued: 1, abandoned: 0, orphans: 0 });
  await until('the request to end', async () => (await rowOf(id))?.state === 'completed');
  await world.startWorker({ WORKER_QUEUES: 'maintenance' });
});

test('after a loss of Redis pending requests go on, each once', async () => {
  const count = faultSize(50, 1_000);
  await Promise.all(Array.from({ length: Math.ceil(count / 200) }, () => world.newAccount()));
  const accounts = await world.sql<{ id: string }>('SELECT id FROM account ORDER BY created_at DESC');
  await world.vies.answerAll({ kind: 'error', code: 'MS_UNAVAILABLE' });
  for (let left = count; left > 0; left -= 200) {
    const keys = await issueKeys(world, Math.min(200, left), accounts[Math.floor((left - 1) / 200)]?.id);
    const statuses = await Promise.all(
      keys.map(async (key) => (await postCheck(world.baseUrl(), key, nextNumber())).status),
    );
    expect(new Set(statuses)).toEqual(new Set([202]));
  }
  expect(await redis.flush()).toBeGreaterThan(0);
  const flushedAt = performance.now();
  await world.vies.answerAll(null);
  await until('every request to end', noneOpen);
  reportFigure(`sweep: ${count} pending requests ended ${since(flushedAt).toFixed(1)} s after a loss of Redis`);
  const ledger = await readLedger(world);
  expect(ledger).toMatchObject({ acceptedWithoutOneEvent: 0, needlessEvents: 0, reserved: 0, unchargedChecks: 0 });
  const stats = await world.vies.stats();
  for (const state of Object.values(stats.states)) expect(state.max_in_flight).toBeLessThanOrEqual(2);
  await until('no job to be left', async () => (await redis.jobs()).length === 0);
});

// The following tests wait for the sweep's grace periods, each with an account of its own.
test.concurrent('a row whose API died before it could enqueue is looked up, recorded and charged', async () => {
  const accountId = await newAccountId();
  const { id, vatNumber } = await admit({ accountId });
  const startedAt = performance.now();
  await until('the request to end', async () => (await rowOf(id))?.state === 'completed');
  reportFigure(`sweep: a row without its job ended after ${since(startedAt).toFixed(1)} s`);
  expect(await world.vies.journal(vatNumber)).toHaveLength(1);
  expect(await readLedger(world, accountId)).toMatchObject({ used: 1, reserved: 0, events: 0 });
});

test.concurrent('a stored answer whose recording was never enqueued is recorded without another lookup', async () => {
  const answer = {
    verdict: 'valid',
    name: 'Sample',
    address: null,
    consultationNumber: null,
    traderMatch: null,
    answeredAt: new Date().toISOString(),
  };
  const { id, vatNumber } = await admit({ accountId: await newAccountId(), answer, accepted: true });
  await until('the request to end', async () => (await rowOf(id))?.state === 'completed');
  expect(await world.vies.journal(vatNumber)).toEqual([]);
  expect(await world.sql('SELECT type FROM event WHERE subject_id = $1', [id])).toEqual([{ type: 'check.completed' }]);
});

test.concurrent('a request that cannot be ended is logged with its id, and does not stop the sweep of others', async () => {
  const [bad, good] = [
    await admit({ accepted: true, dueInSeconds: 300 }),
    await admit({ accepted: true, dueInSeconds: 300 }),
  ];
  await world.sql('INSERT INTO refused_request (id) VALUES ($1)', [bad.id]);
  await world.sql("UPDATE request SET give_up_at = now() - interval '1 second' WHERE id = $1", [bad.id]);
  await until('the failure to be logged', () =>
    world.workers.some((worker) =>
      worker
        .lines()
        .some(
          (line) =>
            line.includes('"level":"error"') &&
            line.includes('could not be ended') &&
            line.includes(publicId('request', bad.id)),
        ),
    ),
  );
  const lost = await admit({});
  await world.sql("UPDATE request SET give_up_at = now() - interval '1 second' WHERE id = $1", [good.id]);
  await until('the other to end', async () => (await rowOf(good.id))?.state === 'abandoned');
  // It was never looked up, which an operator must learn.
  expect(await rowOf(good.id)).toMatchObject({ reason: 'NEVER_ASKED' });
  await until('the operator to be notified', () =>
    world.workers.some((worker) =>
      worker.lines().some((line) => line.includes('"NEVER_ASKED"') && line.includes('"level":"error"')),
    ),
  );
  await world.sql("UPDATE request SET due_at = now() - interval '10 seconds' WHERE id = $1", [lost.id]);
  await until('a row without its job to end', async () => (await rowOf(lost.id))?.state === 'completed');
  await world.sql('DELETE FROM refused_request');
  await until('the request to end', async () => (await rowOf(bad.id))?.state === 'abandoned');
});

test.concurrent('a request whose caller was lost is withdrawn and its unit released, unless an Idempotency-Key is bound to it', async () => {
  const accountId = await newAccountId();
  const lost = await admit({ accountId, agoSeconds: 60, dueInSeconds: 300 });
  const keyed = await admit({ accountId, dueInSeconds: 300 });
  await world.sql(
    `INSERT INTO idempotency_key (account_id, key, fingerprint, request_id, created_at, locked_until)
     SELECT account_id, 'kept', '\\x00', id, now(), now() FROM request WHERE id = $1`,
    [keyed.id],
  );
  await world.sql("UPDATE request SET created_at = now() - interval '60 seconds' WHERE id = $1", [keyed.id]);
  await until('the request to be withdrawn', async () => (await rowOf(lost.id))?.state === 'withdrawn');
  expect(await rowOf(lost.id)).toMatchObject({ reason: 'CALLER_LOST', accepted_at: null });
  await until('the keyed request to go on', async () => (await rowOf(keyed.id))?.state === 'pending');
  expect(await world.sql('SELECT key FROM idempotency_key WHERE request_id = $1', [keyed.id])).toHaveLength(1);
  expect((await readLedger(world, accountId)).reserved).toBe(1);
  await world.sql("UPDATE request SET due_at = now() - interval '10 seconds' WHERE id = $1", [keyed.id]);
  await until('the keyed request to end', async () => (await rowOf(keyed.id))?.state === 'completed');
  expect(await readLedger(world, accountId)).toMatchObject({ reserved: 0, needlessEvents: 0 });
});

test('after a loss of Redis thousands of pending requests have a job again; a sweep then enqueues only those without one', async () => {
  const count = faultSize(2_500, 10_000);
  // Due in an hour: an ordinary sweep does not look for their jobs.
  const insert = async (from: number, to: number): Promise<string[]> => {
    const ids = Array.from({ length: to - from + 1 }, newUuid);
    await world.sql(
      `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
         window_ends_at, due_at, accepted_at, give_up_at)
       SELECT r.id, account.id, false, 'pending', 'DE' || n, 'DE', n::text, 'DE' || n, '[]', now(), now(),
         now() + interval '1 hour', now(), now() + interval '1 day'
       FROM (SELECT id FROM account ORDER BY created_at LIMIT 1) AS account, unnest($2::uuid[]) WITH ORDINALITY AS r(id, place),
         LATERAL (SELECT $1::int + place - 1 AS n) AS numbered`,
      [from, ids],
    );
    return ids;
  };
  const inserted = await insert(1, count);
  await redis.flush();
  const startedAt = performance.now();
  const haveJobs = async () => {
    const jobs = new Set(await redis.jobs());
    return inserted.every((id) => jobs.has(id));
  };
  await until('every request to have a job', haveJobs, 30_000);
  process.stdout.write(
    `sweep: ${count} pending requests had a job ${since(startedAt).toFixed(1)} s after a loss of Redis\n`,
  );
  // The sweep after the loss would find the next ones too.
  await until('it to end', primed);
  await insert(count + 1, count + 3);
  expect(await world.admin('reconcile')).toMatchObject({ enqueued: 3 });
  expect(await world.admin('reconcile')).toMatchObject({ enqueued: 0 });
});

test('while no worker serves the queue of dispatches, sweeps add one job for each dispatch queue and no more', async () => {
  // None of this world does.
  const rows = [...NUMBERED_STATES.slice(0, 3).map((state) => numberOf(state, 1)), 'DE1'];
  const { live_key: key } = await world.newAccount();
  expect((await uploadBatch(world, ['vat_number', ...rows].join('\n'), { key })).status).toBe(201);
  const dispatchJobs = async () => (await redis.keys()).filter((name) => /:dispatch-[^:]+$/.test(name)).length;
  expect(await world.admin('reconcile')).toMatchObject({ lanes: 4 });
  const afterOne = await dispatchJobs();
  for (let sweeps = 0; sweeps < 3; sweeps += 1) expect(await world.admin('reconcile')).toMatchObject({ lanes: 4 });
  // One of the upload and one of the sweeps for each.
  expect([afterOne, await dispatchJobs()]).toEqual([8, 8]);
});

test('a sweep that keeps failing does not hide how long evidence waits', async () => {
  // More than the sweep leaves to the next one.
  const refused = await Promise.all(Array.from({ length: 11 }, () => admit({ accepted: true, dueInSeconds: 300 })));
  const ids = refused.map(({ id }) => id);
  await world.sql('INSERT INTO refused_request (id) SELECT unnest($1::uuid[])', [ids]);
  await world.sql("UPDATE request SET give_up_at = now() - interval '1 second' WHERE id = ANY($1)", [ids]);
  const maintained = world.workers.at(-1);
  const failures = () => maintained?.lines().filter((line) => line.includes('A sweep failed')).length ?? 0;
  await until('a sweep to fail', () => failures() > 0);
  // No worker of this world closes anchors, so the checks of the other tests wait for one.
  const waited = async () => {
    const response = await fetch(`http://127.0.0.1:${String(maintained?.ready.metrics_port)}/metrics`);
    return Number(/^vat_evidence_waiting_seconds\{what="unanchored".*\} (\S+)$/m.exec(await response.text())?.[1]);
  };
  const before = await waited();
  await until('the wait to be measured again', async () => (await waited()) > before);
  await world.sql('DELETE FROM refused_request');
  await until('the requests to end', async () => (await rowOf(ids[0] ?? ''))?.state === 'abandoned');
});
