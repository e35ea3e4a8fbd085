import { secondsOf } from '../cpu-usage.js';
import { percentiles, renderTable } from '../measuring.js';
import { checkChain, openDatabase } from './check-chain.js';
import { type ExpiryFigures, measureExpiry } from './measure-expiry.js';

/** One kind of database: milliseconds at p50 by statement, and the CPU of Postgres for all of them together. */
type Variant = { months: number; p50: Record<string, number>; cpu_ms: number };
export type PartitionsFigures = { n: number; variants: Variant[]; expiry: ExpiryFigures };

const WARM_UP = 30;

/** The statements of a check with the partitions of 0, 12 and 120 months, in turns. */
const measureStatements = async (n: number): Promise<Variant[]> => {
  const opened = [];
  for (const months of [0, 12, 120]) opened.push(await openDatabase(months, 1));
  try {
    const variants = opened.map((database) => ({
      ...{ database, chain: Object.entries(checkChain(database)), pid: 0, before: 0 },
      times: new Map<string, number[]>(),
    }));
    for (let i = -WARM_UP; i < n; i += 1)
      for (const variant of variants) {
        if (i === 0) {
          const [row] = await variant.database.db.$queryRaw<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
          variant.pid = row?.pid ?? 0;
          variant.before = secondsOf(variant.pid) ?? 0;
        }
        for (const [name, run] of variant.chain) {
          const startedAt = performance.now();
          await run();
          if (i >= 0) variant.times.set(name, [...(variant.times.get(name) ?? []), performance.now() - startedAt]);
        }
      }
    return variants.map(({ database, times, pid, before }) => ({
      months: database.months,
      p50: Object.fromEntries([...times].map(([name, values]) => [name, percentiles(values).p50])),
      cpu_ms: Math.round((((secondsOf(pid) ?? 0) - before) / n) * 100_000) / 100,
    }));
  } finally {
    for (const { close } of opened) await close();
  }
};

type Size = { n: number; rows: number; seconds: number };

/** What partitions cost each statement, and what they save when a month of `rows` checks expires, in phases of `seconds`. */
export const measurePartitions = async ({ n, rows, seconds }: Size): Promise<PartitionsFigures> => ({
  n,
  variants: await measureStatements(n),
  expiry: await measureExpiry(rows, seconds),
});

const titleOf = ({ months }: Variant): string => (months === 0 ? 'at first' : `${months} months`);

export const renderPartitions = ({ n, variants, expiry }: PartitionsFigures): string[] => [
  '### Statements by months of partitions (ms, p50)',
  renderTable(
    ['', ...variants.map(titleOf)],
    [
      ...Object.keys(variants[0]?.p50 ?? {}).map((name) => [name, ...variants.map(({ p50 }) => p50[name] ?? '')]),
      [`CPU of Postgres for all of these, n = ${n}`, ...variants.map((variant) => variant.cpu_ms)],
    ],
  ),
  `### A month of ${expiry.rows} checks expires, beside 20 checks a second`,
  renderTable(
    [
      '',
      'seconds',
      'checks/s',
      'a check: p50 / p95 / p99 (ms)',
      'a statement: p50 / p95 / p99 (ms)',
      'slowest',
      'checks',
    ],
    expiry.phases.map(({ name, seconds, deleted, beside: { checks, statements, slowest } }) => [
      name,
      seconds === 0 ? '' : String(seconds),
      deleted === 0 ? '' : Math.round(deleted / seconds),
      `${checks.p50} / ${checks.p95} / ${checks.p99}`,
      `${statements.p50} / ${statements.p95} / ${statements.p99}`,
      slowest,
      checks.n,
    ]),
  ),
];
