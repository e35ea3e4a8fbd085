import type { TestServers } from '@vat/testkit';
import { renderTable } from '../measuring.js';
import { renderProfile } from '../profile.js';
import { type FirstByteFigures, measureFirstByte } from './measure-first-byte.js';
import { ENDPOINTS, IN_FLIGHT, measureRate, onStage, type RateFigures, SENDERS } from './measure-rate.js';

export type DeliveriesFigures = {
  endpoints: number;
  /** The best round of each sender. */
  rates: RateFigures[];
  /** A further run of our sender under a profiler, for the distribution of time only. */
  profiled: RateFigures;
  first_byte: FirstByteFigures;
};

/** Measures deliveries, a bare loop of POSTs, and the same job on other queues, alternating on the same servers. */
export const measureDeliveries = (
  servers: TestServers,
  { count, rounds, seconds, log }: { count: number; rounds: number; seconds: number; log: (line: string) => void },
): Promise<DeliveriesFigures> =>
  onStage(servers, async (stage) => {
    // This runs first because its worker creates the schedulers in Redis. Otherwise the first worker of the rate runs would
    // sweep its backlog into the other dispatch queue.
    log('deliveries: from commit to first byte');
    const first_byte = await measureFirstByte(stage, { eventsPerSecond: 200, seconds });
    const measured: RateFigures[] = [];
    for (let round = 0; round < rounds; round += 1)
      for (const sender of SENDERS) {
        const rate = await measureRate(stage, { sender, count, profiled: false });
        log(`deliveries: ${sender}, ${rate.per_s} a second`);
        measured.push(rate);
      }
    const rates = SENDERS.flatMap((sender) =>
      measured
        .filter((rate) => rate.sender === sender)
        .toSorted((a, b) => b.per_s - a.per_s)
        .slice(0, 1),
    );
    return {
      endpoints: ENDPOINTS,
      rates,
      profiled: await measureRate(stage, { sender: 'ours', count, profiled: true }),
      first_byte,
    };
  });

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
