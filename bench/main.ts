import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { POSTGRES_VARIABLE, PRODUCTION_VARIABLE, REDIS_VARIABLE, startTestServers } from '@vat/testkit';
import { measureCost } from './cost/measure-cost.js';
import { measureDeliveries } from './deliveries/measure-deliveries.js';
import { describeMachine } from './describe-machine.js';
import { measureAnchors } from './measure-anchors.js';
import { measureBatches } from './measure-batches.js';
import { measureCoverage } from './measure-coverage.js';
import { measureDossier } from './measure-dossier.js';
import { measureEta } from './measure-eta.js';
import { measureLarge } from './measure-large.js';
import { measureLatency } from './measure-latency.js';
import { measureQueue } from './measure-queue.js';
import { measureSlots } from './measure-slots.js';
import { measureSweep } from './measure-sweep.js';
import { measureWatches } from './measure-watches.js';
import { measurePartitions } from './partitions/measure-partitions.js';
import { type Figures, renderReport } from './render-report.js';

const PARTS = [
  'cost',
  'latency',
  'slots',
  'queue',
  'deliveries',
  'batches',
  'eta',
  'watches',
  'anchors',
  'dossier',
  'sweep',
  'partitions',
  'large',
  'coverage',
] as const;
type Part = (typeof PARTS)[number];
/** Run only when they are named: they take minutes and 7 GiB of disk for each three million requests. */
const NAMED_ONLY: readonly Part[] = ['large', 'coverage'];
/** Requests in the databases that `large` compares. With `--requests` the large one has so many. */
const LARGE_SIZES = { small: 10_000, large: 3_000_000 };

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const RESULTS = path.join(ROOT, '.artifacts', 'bench');

const usage = (): never => {
  console.error(`npm run bench -- [--quick] [--requests=N (of large)] [${PARTS.join('] [')}]`);
  process.exit(2);
};

const readArguments = (): { quick: boolean; parts: readonly Part[]; sizes: number[] } => {
  try {
    const { values, positionals } = parseArgs({
      options: { quick: { type: 'boolean' }, requests: { type: 'string' } },
      allowPositionals: true,
    });
    const all = PARTS.filter((part) => !NAMED_ONLY.includes(part));
    const parts = positionals.length === 0 ? all : PARTS.filter((part) => positionals.includes(part));
    const large = values.requests === undefined ? LARGE_SIZES.large : Number(values.requests);
    if (!Number.isSafeInteger(large) || large < LARGE_SIZES.small) return usage();
    if (positionals.some((name) => !(PARTS as readonly string[]).includes(name))) return usage();
    const largest = values.quick && values.requests === undefined ? [] : [large];
    return { quick: values.quick === true, parts, sizes: [LARGE_SIZES.small, ...largest] };
  } catch {
    return usage();
  }
};

const { quick, parts, sizes } = readArguments();
const log = (line: string): void => console.error(`[bench] ${line}`);

const figures: Figures = {
  machine: describeMachine(new Date()),
  cost: null,
  latency: [],
  slots: [],
  queue: null,
  deliveries: null,
  anchors: null,
  batches: [],
  eta: [],
  dossier: null,
  partitions: null,
  watches: [],
  sweep: null,
  large: [],
  coverage: null,
};
// As in production, every commit waits for its fsync, and Redis writes its append-only file: this is part of the cost of a check.
const servers = await startTestServers({ durable: true });
// The testkit's worlds read the URLs of the servers from these variables, as in a test run.
Object.assign(process.env, {
  [POSTGRES_VARIABLE]: servers.databaseUrl,
  [REDIS_VARIABLE]: servers.redisUrl,
  [PRODUCTION_VARIABLE]: 'yes',
});
const pace = { perSecond: 20, seconds: quick ? 5 : 30, warmUpCalls: quick ? 300 : 3_000 };
try {
  if (parts.includes('cost')) {
    const size = quick
      ? { checks: 3_000, reads: 4_000, deliveries: 4_000, lines: 3_000, pace }
      : { checks: 12_000, reads: 20_000, deliveries: 20_000, lines: 10_000, pace };
    figures.cost = await measureCost(servers, size, log);
  }
  if (parts.includes('latency')) {
    for (const upstreamLatencyMs of [100, 0]) {
      log(`added latency, upstream at ${upstreamLatencyMs} ms`);
      figures.latency.push(await measureLatency(servers, upstreamLatencyMs, pace));
    }
  }
  if (parts.includes('slots')) {
    const requests = quick ? 3_000 : 12_000;
    const runs: { workers: number; latencyMs: number; varies?: boolean; profiled?: boolean }[] = [
      { workers: 1, latencyMs: 100 },
      { workers: 2, latencyMs: 100 },
      { workers: 1, latencyMs: 100, profiled: true },
      // Lookups that all take the same time end together, and wait for each other.
      { workers: 1, latencyMs: 100, varies: true },
      { workers: 1, latencyMs: 300, varies: true },
      // A slower upstream, for which the processors are no limit.
      { workers: 1, latencyMs: 300 },
    ];
    for (const run of quick ? runs.slice(0, 1) : runs) {
      const how = `${run.varies ? ', varying' : ''}${run.profiled ? ', profiled' : ''}`;
      log(`slot use, ${run.workers} worker(s), upstream at ${run.latencyMs} ms${how}`);
      figures.slots.push(await measureSlots(servers, { requests, ...run }));
    }
  }
  if (parts.includes('queue')) {
    log('jobs per second');
    figures.queue = await measureQueue(servers.redisUrl, quick ? 100 : 500, quick ? 1 : 3);
  }
  if (parts.includes('deliveries')) {
    const size = quick ? { count: 4_000, rounds: 1, seconds: 5 } : { count: 30_000, rounds: 2, seconds: 30 };
    figures.deliveries = await measureDeliveries(servers, { ...size, log });
  }
  if (parts.includes('batches')) {
    for (const workers of quick ? [1] : [1, 2]) {
      log(`a batch, ${workers} worker(s)`);
      figures.batches.push(await measureBatches(servers, { lines: quick ? 3_000 : 10_000, workers, latencyMs: 100 }));
    }
  }
  if (parts.includes('eta'))
    figures.eta = await measureEta(quick ? 40 : 240, (scenario) => log(`the end of batches, ${scenario}`));
  if (parts.includes('watches')) {
    for (const watches of [1_000, quick ? 100_000 : 1_000_000]) {
      log(`${watches} watches`);
      figures.watches.push(await measureWatches(watches, 1_000));
    }
  }
  if (parts.includes('anchors')) {
    log('the tree of an anchor');
    figures.anchors = await measureAnchors(quick ? 100_000 : 1_000_000);
  }
  if (parts.includes('dossier')) {
    log('the export of a dossier');
    figures.dossier = await measureDossier(quick ? 2_000 : 10_000);
  }
  if (parts.includes('partitions')) {
    log('partitions by month');
    figures.partitions = await measurePartitions(
      quick ? { n: 100, rows: 50_000, seconds: 3 } : { n: 500, rows: 1_000_000, seconds: 60 },
    );
  }
  if (parts.includes('sweep')) {
    log('the sweep');
    const size = quick ? { requests: 300_000, overdue: 20_000 } : { requests: 3_000_000, overdue: 200_000 };
    figures.sweep = await measureSweep(servers, { ...size, withoutJob: 1_000, pending: 10_000 });
  }
  if (parts.includes('coverage')) {
    const requests = quick ? 30_000 : 1_750_000;
    figures.coverage = await measureCoverage({ requests, lines: 10_000 }, log);
  }
  if (parts.includes('large')) figures.large = await measureLarge(sizes, log);
} finally {
  await servers.stop();
}
mkdirSync(RESULTS, { recursive: true });
const file = path.join(RESULTS, `${figures.machine.date.replaceAll(':', '-')}.json`);
writeFileSync(file, `${JSON.stringify(figures, null, 2)}\n`);
console.log(renderReport(figures));
log(`written to ${path.relative(ROOT, file)}; copy figures that are worth publishing to docs/benchmarks.md`);
