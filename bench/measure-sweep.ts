import { monitorEventLoopDelay } from 'node:perf_hooks';
import { connectDatabase, findLiveRequests, overdueRequests } from '@vat/db';
import { enqueueLostRequests, MEMBER_STATES, newUuid } from '@vat/domain';
import { connectRedis, createProducer, enqueueOverdue, requestsWithoutJob, upstreamQueue } from '@vat/queues';
import { openWorldRedis, until, type World } from '@vat/testkit';
import { openWorld } from './open-world.js';
import { renderTable } from './render-table.js';

export type SweepFigures = {
  /** Rows in the table of requests, the overdue ones included, and how many of those have no job. */
  requests: number;
  overdue: number;
  without_job: number;
  /** Seconds of the first sweep, which enqueues what has no job, and of the next one, which finds nothing. */
  first_s: number;
  next_s: number;
  /** Seconds of CPU time of this process in the second one: unlike the time, it hardly depends on what else runs. */
  next_cpu_s: number;
  enqueued: number;
  enqueued_next: number;
  /** The longest turn of the event loop, and the longest command in Redis, of both sweeps, in milliseconds. */
  longest_turn_ms: number;
  longest_command_ms: number;
  /** Seconds from the loss of all keys until each of `pending` requests has a job, with one worker of production settings. */
  pending: number;
  restored_s: number;
};

const WITHIN_MS = 300_000;
const ACCOUNTS = 1_000;

/** Inserts accepted requests without jobs; `dueInSeconds` from now. Returns their ids with their member states. */
const insertPending = async ({ sql }: World, accounts: string[], count: number, dueInSeconds: number) => {
  const rows: { id: string; state: (typeof MEMBER_STATES)[number] }[] = [];
  for (let from = 0; from < count; from += 20_000) {
    const ids = Array.from({ length: Math.min(20_000, count - from) }, () => newUuid());
    const states = ids.map((_id, n) => MEMBER_STATES[n % MEMBER_STATES.length] ?? 'DE');
    await sql(
      `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
         window_ends_at, accepted_at, give_up_at, due_at)
       SELECT r.id, ($3::uuid[])[1 + n % cardinality($3::uuid[])], false, 'pending', r.state || n, r.state, n::text, r.state || n,
         '[]', now(), now(), now(), now() + interval '24 hours', now() + make_interval(secs => $4)
       FROM unnest($1::uuid[], $2::text[]) WITH ORDINALITY AS r(id, state, n)`,
      [ids, states, accounts, dueInSeconds],
    );
    rows.push(...ids.map((id, n) => ({ id, state: states[n] ?? 'DE' })));
  }
  return rows;
};

/** Measures the sweep of requests beside `requests` rows, and how long a loss of Redis lasts. */
export const measureSweep = async (size: {
  requests: number;
  overdue: number;
  withoutJob: number;
  pending: number;
}): Promise<SweepFigures> => {
  const world = await openWorld(0, { apis: 0, workers: 0 });
  const { db, close } = connectDatabase({
    url: String(world.settings.DATABASE_URL),
    maxConnections: 20,
    queryTimeoutMs: 5_000,
    connectTimeoutMs: 5_000,
    applicationName: 'vat-bench',
  });
  const redis = connectRedis(String(world.settings.REDIS_URL), 'producer', () => undefined);
  const admin = connectRedis(String(world.settings.REDIS_URL), 'consumer', () => undefined);
  const producer = createProducer(redis, world.name);
  const keys = openWorldRedis(world);
  try {
    const accounts = Array.from({ length: ACCOUNTS }, () => newUuid());
    await world.sql(
      "INSERT INTO account (id, name, plan, created_at) SELECT unnest($1::uuid[]), 'Bench', 'enterprise', now()",
      [accounts],
    );
    await world.sql(
      `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
         window_ends_at, due_at, ended_at)
       SELECT gen_random_uuid(), ($1::uuid[])[1 + n % cardinality($1::uuid[])], false, 'withdrawn', 'DE' || n, 'DE', n::text,
         'DE' || n, '[]', now(), now(), now() - interval '1 day', now()
       FROM generate_series(1, $2::int) AS n`,
      [accounts, size.requests - size.overdue],
    );
    const overdue = await insertPending(world, accounts, size.overdue, -3_600);
    await world.sql('VACUUM ANALYZE request');
    const withJob = overdue.slice(0, size.overdue - size.withoutJob);
    for (const state of MEMBER_STATES) {
      const jobs = withJob.filter((row) => row.state === state).map(({ id }) => ({ payload: { request_id: id } }));
      for (let from = 0; from < jobs.length; from += 1_000) {
        await producer.enqueueAll(upstreamQueue(state), jobs.slice(from, from + 1_000));
      }
    }

    const sweep = enqueueLostRequests({
      overdue: overdueRequests(db),
      withoutJob: requestsWithoutJob(producer),
      findLive: findLiveRequests(db),
      enqueue: enqueueOverdue(producer),
      now: () => new Date(),
    });
    await admin.config('SET', 'slowlog-log-slower-than', '500');
    await admin.slowlog('RESET');
    const turns = monitorEventLoopDelay({ resolution: 1 });
    turns.enable();
    const timed = async () => {
      const startedAt = performance.now();
      const cpuBefore = process.cpuUsage();
      const { enqueued } = await sweep({ everything: false });
      const { user, system } = process.cpuUsage(cpuBefore);
      return { seconds: (performance.now() - startedAt) / 1_000, cpu: (user + system) / 1e6, enqueued };
    };
    const first = await timed();
    const next = await timed();
    turns.disable();
    if (first.enqueued !== size.withoutJob || next.enqueued !== 0)
      throw new Error(`the sweeps enqueued ${first.enqueued} and ${next.enqueued} requests`);
    const slow = (await admin.slowlog('GET', '128')) as [number, number, number, ...unknown[]][];

    await world.sql("DELETE FROM request WHERE state = 'pending'");
    await keys.flush();
    const worker = await world.startWorker({ WORKER_QUEUES: 'maintenance' });
    await until('Redis to be primed', async () => (await keys.keys()).includes(`${world.name}:primed`), WITHIN_MS);
    // Due later, so that only a restore and no ordinary sweep enqueues them.
    await insertPending(world, accounts, size.pending, 3_600);
    const lostAt = performance.now();
    await keys.flush();
    await until('every job', async () => (await keys.jobs()).length === size.pending, WITHIN_MS);
    const restored = (performance.now() - lostAt) / 1_000;
    await worker.stop();
    const round = (n: number) => Math.round(n * 100) / 100;
    return {
      requests: size.requests,
      overdue: size.overdue,
      without_job: size.withoutJob,
      first_s: round(first.seconds),
      next_s: round(next.seconds),
      next_cpu_s: round(next.cpu),
      enqueued: first.enqueued,
      enqueued_next: next.enqueued,
      longest_turn_ms: round(turns.max / 1e6),
      longest_command_ms: round(Math.max(0, ...slow.map(([, , micros]) => micros)) / 1_000),
      pending: size.pending,
      restored_s: round(restored),
    };
  } finally {
    keys.close();
    await producer.close();
    redis.disconnect();
    admin.disconnect();
    await close();
    await world.stop();
  }
};

export const renderSweep = (f: SweepFigures): string =>
  renderTable(
    [
      'requests',
      'overdue',
      'without a job',
      'first sweep, enqueued',
      'next sweep, enqueued',
      'longest turn',
      'longest command in Redis',
      'jobs again after a loss',
    ],
    [
      [
        f.requests,
        f.overdue,
        f.without_job,
        `${f.first_s} s, ${f.enqueued}`,
        `${f.next_s} s (CPU ${f.next_cpu_s} s), ${f.enqueued_next}`,
        `${f.longest_turn_ms} ms`,
        `${f.longest_command_ms} ms`,
        `${f.pending} in ${f.restored_s} s`,
      ],
    ],
  );
