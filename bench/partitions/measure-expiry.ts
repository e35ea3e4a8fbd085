import { deleteOldEvidence, maintainPartitions } from '@vat/db';
import { runSql, startOfMonth } from '@vat/testkit';
import { type Percentiles, percentiles } from '../measuring.js';
import { type BenchDatabase, checkChain, openDatabase } from './check-chain.js';

/** What ran beside: milliseconds of each statement, and of all statements of a check in order. */
type Beside = { statements: Percentiles; checks: Percentiles; slowest: number };
/** `seconds`: of the work. `deleted`: checks. */
type Phase = { name: string; seconds: number; deleted: number; beside: Beside };
export type ExpiryFigures = { rows: number; phases: Phase[] };

const MONTHS = 12;
const CALLERS = 4;
/** A check of each caller begins this long after the one before: twenty a second, so that no statement waits for a core. */
const CHECK_EVERY_MS = 200;
const ROWS_PER_STATEMENT = 20_000;
/** Phases in which nothing expires. */
const QUIET = 3;

/** The start of the month that is `ago` months before the current one. */
const monthStart = (ago: number): number => startOfMonth(new Date(), ago);

/** A month of checks, each with its request, exchange, leaf, unit and event. */
const fillMonth = async ({ db, accountId }: BenchDatabase, ago: number, rows: number): Promise<void> => {
  const [from, length] = [monthStart(ago), monthStart(ago - 1) - monthStart(ago)];
  for (let start = 0; start < rows; start += ROWS_PER_STATEMENT)
    await db.$executeRaw`
      WITH ids AS MATERIALIZED (
        SELECT n, to_timestamp((${from}::float8 + n * (${length}::float8 / ${rows}::float8)) / 1000) AS at,
          (lpad(to_hex((${from}::float8 + n * (${length}::float8 / ${rows}::float8))::bigint), 12, '0') || '7' ||
            substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid AS id
        FROM generate_series(${start}::int, ${Math.min(start + ROWS_PER_STATEMENT, rows) - 1}::int) AS n
      ), r AS (
        INSERT INTO request (id, account_id, test, state, input, country_code, national, vat_number, entries, created_at,
          window_ends_at, due_at, ended_at, check_id)
        SELECT id, ${accountId}::uuid, false, 'completed', 'FR1', 'FR', '1', 'FR1', '[]', at, at, at, at, id FROM ids
      ), c AS (
        INSERT INTO "check" (id, account_id, request_id, test, vat_number, valid, checked_at, body, hash)
        SELECT id, ${accountId}::uuid, id, false, 'FR1', true, at, decode(repeat('7b', 800), 'hex'), sha256(id::text::bytea) FROM ids
      ), x AS (
        INSERT INTO exchange (id, request_id, source, started_at, duration_ms, method, url, request_headers, request_body,
          request_sha256, status, response_headers, response_body, complete)
        SELECT id, id, 'vies', at, 80, 'POST', 'http://127.0.0.1/', '{}', decode(repeat('7b', 300), 'hex'), '', 200, '{}',
          decode(repeat('7b', 700), 'hex'), true FROM ids
      ), u AS (
        INSERT INTO usage_entry (check_id, account_id, period, consumed_at) SELECT id, ${accountId}::uuid, '2026-01', at FROM ids
      ), e AS (
        INSERT INTO event (position, id, account_id, type, subject_id, body, test, created_at)
        SELECT n + 1, id, ${accountId}::uuid, 'check.completed', id, '{}', false, at FROM ids
      )
      INSERT INTO anchor_leaf (check_id, hash) SELECT id, sha256(id::text::bytea) FROM ids`;
};

/** The times of what ran beside work, in milliseconds; those of checks from the time at which they were due. */
type Times = { statements: number[]; checks: number[] };
const TIMES = (): Times => ({ statements: [], checks: [] });

/** A phase's work, and the times beside it. */
type Run = { seconds: number; deleted: number; during: Times; whole: Times };

/**
 * Calls the statements of checks at a steady rate for a phase of so many seconds, and runs `work` after a third of it. `during`: of
 * checks that it overlaps.
 */
const beside = async (database: BenchDatabase, length: number, work: () => Promise<number>): Promise<Run> => {
  const [whole, during] = [TIMES(), TIMES()];
  const startedAt = performance.now();
  const endsAt = startedAt + length * 1_000;
  const working = { from: startedAt + (length * 1_000) / 3, to: Number.POSITIVE_INFINITY };
  const callers = Array.from({ length: CALLERS }, async (_, n) => {
    const chain = Object.values(checkChain(database));
    let next = startedAt + (n * CHECK_EVERY_MS) / CALLERS;
    for (; next < endsAt || working.to === Number.POSITIVE_INFINITY; next += CHECK_EVERY_MS) {
      await until(next);
      const times: number[] = [];
      for (const run of chain) {
        const statementAt = performance.now();
        await run();
        times.push(performance.now() - statementAt);
      }
      const now = performance.now();
      for (const into of now > working.from && next < working.to ? [whole, during] : [whole]) {
        into.statements.push(...times);
        into.checks.push(now - next);
      }
    }
  });
  await until(working.from);
  const deleted = await work().finally(() => {
    working.to = performance.now();
  });
  await Promise.all(callers);
  return { seconds: Math.round((working.to - working.from) / 10) / 100, deleted, during, whole };
};

/** Resolves at a time of `performance.now()`. */
const until = (at: number): Promise<unknown> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));

const phaseOf = (name: string, { seconds, deleted }: Run, { statements, checks }: Times): Phase => ({
  ...{ name, seconds, deleted },
  beside: {
    statements: percentiles(statements),
    checks: percentiles(checks),
    slowest: Math.round(statements.reduce((most, time) => Math.max(most, time), 0)),
  },
});

const checksOf = async ({ db }: BenchDatabase): Promise<number> => {
  const [row] = await db.$queryRaw<{ n: number }[]>`SELECT count(*)::int AS n FROM "check" WHERE vat_number = 'FR1'`;
  return row?.n ?? 0;
};

/** Drops partitions of the months before the one that is `ago` months before the current one. */
const drop = async ({ url }: BenchDatabase, ago: number, atMost?: number) => {
  const before = new Date(monthStart(ago));
  const expiry = { evidenceBefore: before, deliveriesBefore: before };
  const result = await maintainPartitions(url)(new Date(), expiry, atMost === undefined ? {} : { atMost });
  if (result.failures.length > 0) throw new AggregateError(result.failures);
  return result;
};

/**
 * The end of a month of `rows` checks, whose partitions are dropped one at a time, beside phases in which nothing expires; and for
 * comparison checks of another month deleted in chunks for a while.
 */
export const measureExpiry = async (rows: number, length: number): Promise<ExpiryFigures> => {
  const database = await openDatabase(MONTHS, CALLERS + 2);
  try {
    await Promise.all([MONTHS, MONTHS - 1].map((ago) => fillMonth(database, ago, rows)));
    // Takes longer than the service lets a statement run.
    for (const text of ['VACUUM ANALYZE', 'CHECKPOINT']) await runSql(database.url, text);
    const phases: Phase[] = [];
    for (let n = 0; n < QUIET; n += 1) {
      const run = await beside(database, length, async () => 0);
      phases.push(phaseOf('nothing expires', run, run.whole));
    }
    // The partitions of the time before are empty.
    await drop(database, MONTHS);
    for (let left = true; left; ) {
      let dropped: string[] = [];
      const run = await beside(database, length, async () => {
        ({ left, dropped } = await drop(database, MONTHS - 1, 1));
        return 0;
      });
      phases.push(phaseOf(`${dropped.join()} is dropped`, run, run.whole));
    }
    if ((await checksOf(database)) !== rows) throw new Error('checks of the expired month are left');
    const chunks = await beside(database, length, async () => {
      let deleted = 0;
      for (const end = performance.now() + (length * 1_000) / 3; performance.now() < end; )
        deleted += (await deleteOldEvidence(database.db)(new Date(monthStart(MONTHS - 2)), 1)).requests;
      return deleted;
    });
    return { rows, phases: [...phases, phaseOf('in chunks of 500: checks meanwhile', chunks, chunks.during)] };
  } finally {
    await database.close();
  }
};
