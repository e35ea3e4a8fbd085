import { deleteOldEvidence, maintainPartitions } from '@vat/db';
import { startOfMonth } from '@vat/testkit';
import pg from 'pg';
import { type Percentiles, percentiles } from '../measuring.js';
import { checkChain } from './check-chain.js';
import { type BenchDatabase, openDatabase } from './open-database.js';

/** `beside`: milliseconds of statements that ran meanwhile. `deleted`: checks. */
type Phase = { name: string; seconds: number; deleted: number; beside: Percentiles; slowest: number };
export type ExpiryFigures = { rows: number; phases: Phase[] };

const MONTHS = 12;
const CALLERS = 4;
const ROWS_PER_STATEMENT = 50_000;
/** Seconds of the phases that have no end of their own. */
const SECONDS = 15;

/** The start of the month that is `ago` months before the current one. */
const monthStart = (ago: number): number => startOfMonth(new Date(), ago);

/** A month of checks, each with its request, exchange, leaf, unit and event. */
const fillMonth = async ({ db, accountId }: BenchDatabase, rows: number): Promise<void> => {
  const [from, length] = [monthStart(MONTHS), monthStart(MONTHS - 1) - monthStart(MONTHS)];
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
        INSERT INTO event (id, account_id, type, subject_id, body, test, created_at)
        SELECT id, ${accountId}::uuid, 'check.completed', id, '{}', false, at FROM ids
      )
      INSERT INTO anchor_leaf (check_id, hash) SELECT id, sha256(id::text::bytea) FROM ids`;
};

/** Runs `work` beside the statements of checks. `deleted`: of its result. */
const beside = async (
  database: BenchDatabase,
  name: string,
  work: () => Promise<{ deleted: number }>,
): Promise<Phase> => {
  const times: number[] = [];
  let running = true;
  const callers = Array.from({ length: CALLERS }, async () => {
    const chain = Object.values(checkChain(database));
    while (running)
      for (const run of chain) {
        const startedAt = performance.now();
        await run();
        times.push(performance.now() - startedAt);
      }
  });
  const startedAt = performance.now();
  const { deleted } = await work();
  const seconds = Math.round((performance.now() - startedAt) / 10) / 100;
  running = false;
  await Promise.all(callers);
  const slowest = Math.round(times.reduce((most, time) => Math.max(most, time), 0));
  return { name, seconds, deleted, beside: percentiles(times), slowest };
};

const checksOf = async ({ db }: BenchDatabase): Promise<number> => {
  const [row] = await db.$queryRaw<{ n: number }[]>`SELECT count(*)::int AS n FROM "check" WHERE vat_number = 'FR1'`;
  return row?.n ?? 0;
};

/** The end of a month of `rows` checks: dropped as a whole, and for comparison deleted in chunks for a while. */
export const measureExpiry = async (rows: number): Promise<ExpiryFigures> => {
  const database = await openDatabase(MONTHS, CALLERS + 2);
  try {
    await fillMonth(database, rows);
    // Takes longer than the service lets a statement run.
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query('VACUUM ANALYZE');
    await client.end();
    const before = new Date(monthStart(MONTHS - 1));
    const pause = () => new Promise((resolve) => setTimeout(resolve, SECONDS * 1_000));
    await beside(database, 'warm-up', () => pause().then(() => ({ deleted: 0 })));
    const idle = await beside(database, 'nothing expires', () => pause().then(() => ({ deleted: 0 })));
    const chunks = await beside(database, 'in chunks of 500, for a while', async () => {
      let deleted = 0;
      for (const end = performance.now() + SECONDS * 1_000; performance.now() < end; )
        deleted += (await deleteOldEvidence(database.db)(before, 1)).requests;
      return { deleted };
    });
    const left = await checksOf(database);
    const dropped = await beside(database, 'partitions dropped', async () => {
      const { failures } = await maintainPartitions(database.url)(new Date(), {
        ...{ evidenceBefore: before, deliveriesBefore: before },
      });
      if (failures.length > 0) throw new AggregateError(failures);
      return { deleted: left };
    });
    if ((await checksOf(database)) > 0) throw new Error('checks of the expired month are left');
    return { rows, phases: [idle, chunks, dropped] };
  } finally {
    await database.close();
  }
};
