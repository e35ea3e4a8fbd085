import { renderProfile } from '../render-profile.js';
import { renderTable } from '../render-table.js';
import type { DeliveriesFigures } from './measure-deliveries.js';
import { IN_FLIGHT } from './measure-rate.js';

/** The figures as paragraphs of Markdown. */
export const renderDeliveries = ({ endpoints, rates, profiled, first_byte }: DeliveriesFigures): string[] => {
  const ours = rates.find(({ sender }) => sender === 'ours')?.per_s ?? Number.NaN;
  const { events_per_s, commit_to_first_byte: byte, commit_to_enqueued: enqueued, worst_ms } = first_byte;
  return [
    `### Deliveries: ${rates[0]?.deliveries} to ${endpoints} endpoints, ${IN_FLIGHT} in flight from one process`,
    renderTable(
      ['sender', 'deliveries/s', 'ours to it', 'CPU ms each: sender', 'with Postgres and Redis', 'cores of others'],
      rates.map((f) => [
        f.sender,
        f.per_s,
        (ours / f.per_s).toFixed(2),
        f.sender_cpu_ms ?? '?',
        f.all_cpu_ms ?? '?',
        f.cpu_of_others ?? '?',
      ]),
    ),
    `### From commit to first byte, ${events_per_s} events a second`,
    renderTable(
      ['commit to first byte p50 / p95 / p99 (ms)', 'worst', 'of it until enqueued p50 / p95 / p99', 'n'],
      [
        [
          `${byte.p50} / ${byte.p95} / ${byte.p99}`,
          worst_ms,
          `${enqueued.p50} / ${enqueued.p95} / ${enqueued.p99}`,
          byte.n,
        ],
      ],
    ),
    `Profiled, at ${profiled.per_s} a second.`,
    ...renderProfile(profiled.profile),
  ];
};
