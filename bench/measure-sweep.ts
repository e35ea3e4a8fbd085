import { monitorEventLoopDelay } from 'node:perf_hooks';
import { sweepDeliveryJobs, sweepRequestJobs } from '@vat/composition';
import { MEMBER_STATES, newUuid } from '@vat/domain';
import { connectRedis, createProducer, upstreamQueue } from '@vat/queues';
import { openWorldRedis, type TestServers, until, type World } from '@vat/testkit';
import { cpuBetween, readCpu } from './cpu-usage.js';
import { enqueueOurs } from './deliveries/enqueue.js';
import { insertDeliveries, insertEndpoints } from './deliveries/insert-deliveries.js';
import { insertAccounts } from './insert-rows.js';
import { renderTable } from './measuring.js';
import { connectBench, openWorld } from './open-world.js';

/** The sweep of one kind of rows. */
type KindFigures = {
  kind: 'requests' | 'deliveries';
  overdue: number;
  without_job: number;
  /** Seconds of the first sweep, which enqueues what has no job, and of the next one, which finds nothing. */
  first_s: number;
  next_s: number;
  /** Seconds of CPU time of each process in the second one: unlike the time, they hardly depend on what else runs. */
  next_cpu_s: Record<string, number | null>;
  /** The longest turn of the event loop, and the longest command in Redis, of both sweeps, in milliseconds. */
  longest_turn_ms: number;
  longest_command_ms: number;
};

export type SweepFigures = {
  /** Rows in the table of requests, the overdue ones included. */
  requests: number;
  kinds: KindFigures[];
  /** Seconds from the loss of all keys until each of `pending` requests has a job, with one worker of production settings. */
  pending: number;
  restored_s: number;
};

const WITHIN_MS = 300_000;
const ACCOUNTS = 1_000;
const ENDPOINTS = Array.from({ length: 200 }, (_, n) => `https://receiver-${n}.example/`);
const ORDINARY = { everything: false };
const round = (n: number) => Math.round(n * 100) / 100;

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

/** Sweeps twice. Throws when a sweep does not enqueue exactly what has no job. */
const measureKind = async (
  kind: KindFigures['kind'],
  { overdue, withoutJob }: { overdue: number; withoutJob: number },
  pids: Record<string, number>,
  redis: ReturnType<typeof connectRedis>,
  sweep: () => Promise<number>,
): Promise<KindFigures> => {
  await redis.config('SET', 'slowlog-log-slower-than', '500');
  await redis.slowlog('RESET');
  const turns = monitorEventLoopDelay({ resolution: 1 });
  turns.enable();
  const timed = async (expected: number) => {
    const before = readCpu(pids);
    const enqueued = await sweep();
    const { seconds, used } = cpuBetween(before, readCpu(pids));
    if (enqueued !== expected) throw new Error(`a sweep of ${kind} enqueued ${enqueued}, not ${expected}`);
    return { seconds, used };
  };
  const first = await timed(withoutJob);
  const next = await timed(0);
  turns.disable();
  const slow = (await redis.slowlog('GET', '128')) as [number, number, number, ...unknown[]][];
  return {
    kind,
    overdue,
    without_job: withoutJob,
    first_s: round(first.seconds),
    next_s: round(next.seconds),
    next_cpu_s: Object.fromEntries(Object.entries(next.used).map(([name, s]) => [name, s === null ? null : round(s)])),
    longest_turn_ms: round(turns.max / 1e6),
    longest_command_ms: round(Math.max(0, ...slow.map(([, , micros]) => micros)) / 1_000),
  };
};

/** Measures the sweep of requests beside `requests` rows, and how long a loss of Redis lasts. */
export const measureSweep = async (
  servers: TestServers,
  size: {
    requests: number;
    overdue: number;
    withoutJob: number;
    pending: number;
  },
): Promise<SweepFigures> => {
  const pids = { sweep: process.pid, ...servers.pids };
  const world = await openWorld();
  const { db, close } = connectBench(world.settings.DATABASE_URL, { maxConnections: 20, queryTimeoutMs: 5_000 });
  const redis = connectRedis(String(world.settings.REDIS_URL), 'producer', () => undefined);
  const admin = connectRedis(String(world.settings.REDIS_URL), 'consumer', () => undefined);
  const producer = createProducer(redis, world.name);
  const keys = await openWorldRedis(world);
  try {
    const accounts = await insertAccounts(world, ACCOUNTS);
    await world.sql(
      `INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
         window_ends_at, due_at, ended_at)
       SELECT ('0' || to_hex((extract(epoch FROM now()) * 1000)::bigint) || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid,
         ($1::uuid[])[1 + n % cardinality($1::uuid[])], false, 'withdrawn', 'DE' || n, 'DE', n::text,
         'DE' || n, '[]', now(), now(), now() - interval '1 day', now()
       FROM generate_series(1, $2::int) AS n`,
      [accounts, size.requests - size.overdue],
    );
    const overdue = await insertPending(world, accounts, size.overdue, -3_600);
    await world.sql('VACUUM ANALYZE request');
    const withJob = overdue.slice(0, size.overdue - size.withoutJob);
    for (const state of MEMBER_STATES) {
      const jobs = withJob.filter((row) => row.state === state).map(({ id }) => ({ payload: { request_id: id } }));
      await producer.enqueueAll(upstreamQueue(state), jobs);
    }

    const deps = { db, producer, now: () => new Date() };
    const requests = sweepRequestJobs(deps);
    const kinds = [await measureKind('requests', size, pids, admin, async () => (await requests(ORDINARY)).enqueued)];

    const deliveries = await insertDeliveries(world, await insertEndpoints(world, ENDPOINTS), size.overdue);
    await world.sql("UPDATE delivery SET next_attempt_at = next_attempt_at - interval '1 hour'");
    await world.sql('VACUUM ANALYZE delivery');
    await enqueueOurs(world, deliveries.slice(0, size.overdue - size.withoutJob));
    const sweepOfDeliveries = sweepDeliveryJobs(deps);
    kinds.push(
      await measureKind('deliveries', size, pids, admin, async () => (await sweepOfDeliveries(ORDINARY)).deliveries),
    );

    await world.sql('TRUNCATE delivery_attempt, delivery, event');
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
    return { requests: size.requests, kinds, pending: size.pending, restored_s: round(restored) };
  } finally {
    keys.close();
    await producer.close();
    redis.disconnect();
    admin.disconnect();
    await close();
    await world.stop();
  }
};

export const renderSweep = ({ requests, kinds, pending, restored_s }: SweepFigures): string[] => [
  `### The sweep, beside ${requests} requests`,
  renderTable(
    ['rows', 'overdue', 'without a job', 'first sweep', 'next sweep (CPU)', 'longest turn', 'longest command in Redis'],
    kinds.map((f) => [
      f.kind,
      f.overdue,
      f.without_job,
      `${f.first_s} s`,
      `${f.next_s} s (${Object.entries(f.next_cpu_s)
        .map(([name, seconds]) => `${name} ${seconds ?? '?'} s`)
        .join(', ')})`,
      `${f.longest_turn_ms} ms`,
      `${f.longest_command_ms} ms`,
    ]),
  ),
  `After a loss of all keys, ${pending} pending requests had their jobs again after ${restored_s} s.`,
];
