import type { CostFigures } from './cost/measure-cost.js';
import { renderCost } from './cost/render-cost.js';
import { type DeliveriesFigures, renderDeliveries } from './deliveries/measure-deliveries.js';
import type { Machine } from './describe-machine.js';
import { type AnchorsFigures, renderAnchors } from './measure-anchors.js';
import type { BatchesFigures } from './measure-batches.js';
import { type CoverageFigures, renderCoverage } from './measure-coverage.js';
import { type DossierFigures, renderDossier } from './measure-dossier.js';
import { type EtaFigures, renderEta } from './measure-eta.js';
import { type LargeFigures, renderLarge } from './measure-large.js';
import type { LatencyFigures } from './measure-latency.js';
import type { QueueFigures } from './measure-queue.js';
import type { SlotsFigures } from './measure-slots.js';
import { renderSweep, type SweepFigures } from './measure-sweep.js';
import type { WatchesFigures } from './measure-watches.js';
import { renderTable as table } from './measuring.js';
import { type PartitionsFigures, renderPartitions } from './partitions/measure-partitions.js';
import { renderProfile } from './profile.js';

export type Figures = {
  machine: Machine;
  cost: CostFigures | null;
  latency: LatencyFigures[];
  slots: SlotsFigures[];
  queue: QueueFigures | null;
  deliveries: DeliveriesFigures | null;
  anchors: AnchorsFigures | null;
  batches: BatchesFigures[];
  eta: EtaFigures[];
  dossier: DossierFigures | null;
  partitions: PartitionsFigures | null;
  watches: WatchesFigures[];
  sweep: SweepFigures | null;
  large: LargeFigures[];
  coverage: CoverageFigures | null;
};

const latencyTable = (figures: LatencyFigures[]): string =>
  table(
    [
      'upstream',
      'checks/s',
      'added p50 / p95 / p99 (ms)',
      'bare programs (ms)',
      'direct call to the upstream (ms)',
      'ratio p50',
      'n',
      'not 201',
    ],
    figures.map((f) => [
      `${f.upstream_latency_ms} ms`,
      f.checks_per_s,
      `${f.added.p50} / ${f.added.p95} / ${f.added.p99}`,
      `${f.bare.p50} / ${f.bare.p95} / ${f.bare.p99}`,
      `${f.direct.p50} / ${f.direct.p95} / ${f.direct.p99}`,
      f.ratio_p50,
      f.added.n,
      f.not_201,
    ]),
  );

const slotsTable = (figures: SlotsFigures[]): string =>
  table(
    [
      'workers',
      'upstream (ms)',
      'lookups/s of ideal',
      'slot use',
      'bare',
      'checks/s',
      'max in flight',
      'CPU ms per lookup',
      'cores used',
      'cores of others',
    ],
    figures.map((f) => [
      `${f.workers}${f.profile.length > 0 ? ' (profiled)' : ''}`,
      f.varies ? `${f.latency_ms / 2} to ${f.latency_ms * 1.5}` : f.latency_ms,
      `${Math.round(f.lookups_per_s)} / ${Math.round(f.ideal_per_s)}`,
      f.slot_use.toFixed(2),
      f.bare?.slot_use.toFixed(2) ?? '',
      Math.round(f.checks_per_s),
      f.max_in_flight,
      f.cpu_ms_per_lookup?.toFixed(2) ?? '?',
      Object.entries(f.cpu)
        .map(([name, cores]) => `${name} ${cores?.toFixed(2) ?? '?'}`)
        .join(', '),
      f.cpu_of_others?.toFixed(2) ?? '?',
    ]),
  );

const batchesTable = (figures: BatchesFigures[]): string =>
  table(
    [
      'workers',
      'lines',
      '201 after (ms)',
      'first lookup after (ms)',
      'lines/s of ideal',
      'slot use',
      'max in flight',
      'CPU ms per line',
      'memory before → max (MiB)',
      'cores of others',
    ],
    figures.map((f) => [
      f.workers,
      f.lines,
      f.answered_ms,
      f.first_line_ms,
      `${Math.round(f.lookups_per_s)} / ${Math.round(f.ideal_per_s)}`,
      f.slot_use.toFixed(2),
      f.max_in_flight,
      f.cpu_ms_per_lookup?.toFixed(2) ?? '?',
      Object.entries(f.memory)
        .map(([name, { before, max }]) => `${name} ${before ?? '?'} → ${max ?? '?'}`)
        .join(', '),
      f.cpu_of_others?.toFixed(2) ?? '?',
    ]),
  );

const watchesTable = (figures: WatchesFigures[]): string =>
  table(
    ['watches', 'due', 'find them p50 / p95 (ms)', 'find none p50 / p95 (ms)', 'start a run (ms)', 'runs/s'],
    figures.map((f) => [
      f.watches,
      f.due,
      `${f.find.p50} / ${f.find.p95}`,
      `${f.find_none.p50} / ${f.find_none.p95}`,
      f.start_ms,
      f.runs_per_s,
    ]),
  );

/** The figures of one run as Markdown, for docs/benchmarks.md and the terminal. */
export const renderReport = (figures: Figures): string => {
  const {
    machine,
    latency,
    slots,
    queue,
    deliveries,
    batches,
    eta,
    watches,
    anchors,
    dossier,
    sweep,
    large,
    coverage,
    partitions,
  } = figures;
  const { date, node, cpu, cores, memory_gib, load_before } = machine;
  const parts = [
    `## ${date.slice(0, 16).replace('T', ' ')} UTC: ${cpu}, ${cores} cores, ${memory_gib} GiB, Node ${node.slice(1)}`,
    `One-minute load before the run: ${load_before}.`,
  ];
  if (figures.cost !== null) parts.push(...renderCost(figures.cost, cores));
  if (latency.length > 0) parts.push('### Added latency of a direct check', latencyTable(latency));
  if (slots.length > 0) {
    parts.push(`### Slot use over a backlog of ${slots[0]?.requests} requests`, slotsTable(slots));
    const profile = slots.find((f) => f.profile.length > 0)?.profile ?? [];
    if (profile.length > 0) parts.push(...renderProfile(profile));
  }
  if (queue !== null) {
    const { jobs, ours_per_s, bare_per_s, ratio } = queue;
    parts.push(
      '### Jobs that do nothing, 28 queues, two at a time each',
      table(['jobs', 'ours/s', 'bare BullMQ/s', 'ratio'], [[jobs, ours_per_s, bare_per_s, ratio]]),
    );
  }
  if (deliveries !== null) parts.push(...renderDeliveries(deliveries));
  if (anchors !== null) parts.push(...renderAnchors(anchors));
  if (sweep !== null) parts.push(...renderSweep(sweep));
  if (dossier !== null) parts.push(...renderDossier(dossier));
  if (partitions !== null) parts.push(...renderPartitions(partitions));
  if (batches.length > 0) parts.push('### A batch of 2 MiB over all member states', batchesTable(batches));
  if (eta.length > 0) parts.push(...renderEta(eta));
  if (watches.length > 0) parts.push('### Due watches, one worker, upstream at 0 ms', watchesTable(watches));
  if (large.length > 0) parts.push(...renderLarge(large));
  if (coverage) parts.push(...renderCoverage(coverage));
  return `${parts.join('\n\n')}\n`;
};
