import { renderTable } from '../measuring.js';
import { type CpuCost, totalOf } from './cpu-cost.js';
import type { CostFigures } from './measure-cost.js';

/** What the machine must have left for a goal of slot use to apply: CPU milliseconds a check. */
const AVAILABLE_MS = 3.5;

const parts = (cost: CpuCost): string =>
  Object.entries(cost)
    .map(([name, ms]) => `${name} ${ms.toFixed(2)}`)
    .join(', ');

/** The figures as paragraphs of Markdown. */
export const renderCost = (figures: CostFigures, cores: number): string[] => {
  const { rows, slot_use, bare_slot_use, cpu_ms_per_lookup, cpu_of_others, added, bare_added } = figures;
  const { direct, round_trip, ideal_per_s, storage } = figures;
  const available = cpu_of_others === null ? Number.NaN : ((cores - cpu_of_others) * 1_000) / ideal_per_s;
  const bound = 2 * round_trip.p50 + 5;
  return [
    '### CPU milliseconds (user and system), beside a bare baseline of the same run',
    renderTable(
      ['work', 'ours', 'by process', 'bare', 'by process', 'ratio', 'goal', 'baseline', 'n'],
      rows.map(({ what, baseline, n, ours, bare, goal }) => [
        ...[what, totalOf(ours).toFixed(2), parts(ours), totalOf(bare).toFixed(2), parts(bare)],
        ...[(totalOf(ours) / totalOf(bare)).toFixed(2), goal === null ? '' : `≤ ${goal}`, baseline, n],
      ]),
    ),
    renderTable(
      ['figure', 'measured', 'goal'],
      [
        [
          `slot use, where ${available.toFixed(1)} ms a check were available (${cpu_ms_per_lookup?.toFixed(2) ?? '?'} used)`,
          `${slot_use.toFixed(2)}, bare ${bare_slot_use.toFixed(2)}`,
          `≥ 0.95 from ${AVAILABLE_MS} ms on`,
        ],
        ['bare BullMQ round trip, p50 / p95 (ms)', `${round_trip.p50} / ${round_trip.p95}`, ''],
        [
          'added latency of a direct check, p50 / p95 (ms)',
          `${added.p50} / ${added.p95}, bare ${bare_added.p50} / ${bare_added.p95}`,
          `p50 ≤ ${bound.toFixed(1)}`,
        ],
        [
          'CPU of a direct check at that rate, with the API (ms)',
          `${totalOf(direct).toFixed(2)}: ${parts(direct)}`,
          '',
        ],
      ],
    ),
    `What a check of a backlog of ${storage.checks} occupies, with the unit, the event and one exchange, after a vacuum, and its job in Redis while it waits (${storage.job} bytes):`,
    renderTable(
      ['table', 'rows', 'bytes with indexes'],
      [
        ...storage.tables.map(({ table, rows: each, bytes }) => [table, each, bytes]),
        ['all', '', storage.tables.reduce((sum, { bytes }) => sum + bytes, 0)],
      ],
    ),
  ];
};
