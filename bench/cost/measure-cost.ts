import type { TestServers } from '@vat/testkit';
import { measureRate, onStage } from '../deliveries/measure-rate.js';
import { insertBacklog } from '../insert-rows.js';
import { measureLatency } from '../measure-latency.js';
import { measureSlots } from '../measure-slots.js';
import type { Percentiles } from '../measuring.js';
import { inWorld } from '../open-world.js';
import {
  type CostRow,
  type CpuCost,
  costOfLookup,
  LATENCY_MS,
  type Measure,
  pick,
  type Size,
  totalOf,
  WORKING,
} from './cpu-cost.js';
import { measureBareJobs, measureRoundTrip } from './measure-bare.js';
import { measureLine } from './measure-line.js';
import { measureRead } from './measure-read.js';
import type { StorageFigures } from './measure-storage.js';

export type CostFigures = {
  rows: CostRow[];
  slot_use: number;
  /** Of the bare program of {@link measureSlots} in the same run. */
  bare_slot_use: number;
  ideal_per_s: number;
  cpu_ms_per_lookup: number | null;
  cpu_of_others: number | null;
  added: Percentiles;
  /** Of bare programs, see {@link measureLatency}. */
  bare_added: Percentiles;
  /** CPU of a direct check at the pace of {@link Size}. */
  direct: CpuCost;
  round_trip: Percentiles;
  storage: StorageFigures;
};

const bareCheck = (servers: TestServers, checks: number): Promise<CpuCost> =>
  inWorld({}, async (world) => {
    await insertBacklog(world, checks);
    const rows = await world.sql<{ id: string }>('SELECT id FROM request ORDER BY id');
    return await measureBareJobs(servers, world, { ids: rows.map(({ id }) => id), work: 'check' });
  });

const measureDelivery: Measure = (servers, { deliveries }) =>
  onStage(servers, async (stage) => {
    const costOf = async (sender: 'ours' | 'got loop, logged'): Promise<CpuCost> => {
      const { cpu_ms } = await measureRate(stage, { sender, count: deliveries, profiled: false });
      return pick({ ...cpu_ms, worker: cpu_ms.sender }, ...WORKING);
    };
    const bare = await costOf('got loop, logged');
    const ours = await costOf('ours');
    const baseline = 'a loop of signed posts with got and their statements';
    return { what: 'a delivery', baseline, n: deliveries, ours, bare, goal: null };
  });

/** CPU of a check, a delivery, a read and a line of a batch, each beside its baseline, and the added latency of a direct check. */
export const measureCost = async (
  servers: TestServers,
  size: Size,
  log: (line: string) => void,
): Promise<CostFigures> => {
  log('cost: a check');
  const bare = await bareCheck(servers, size.checks);
  const slots = await measureSlots(servers, {
    requests: size.checks,
    workers: 1,
    latencyMs: LATENCY_MS,
    profiled: false,
  });
  const rows: CostRow[] = [
    {
      ...{ what: 'a check', baseline: 'a BullMQ job and its statements', n: size.checks, bare, goal: 2.5 },
      ours: costOfLookup(slots),
    },
  ];
  for (const measure of [measureRead, measureDelivery, measureLine]) {
    rows.push(await measure(servers, size));
    const { what, ours, bare: least } = rows.at(-1) as CostRow;
    log(`cost: ${what}, ${totalOf(ours).toFixed(2)} ms of CPU, bare ${totalOf(least).toFixed(2)}`);
  }
  log('cost: added latency');
  const round_trip = await inWorld({}, (world) => measureRoundTrip(world, size.pace));
  const { added, bare: bare_added, cpu_ms: direct } = await measureLatency(servers, LATENCY_MS, size.pace);
  const { slot_use, ideal_per_s, cpu_ms_per_lookup, cpu_of_others, storage } = slots;
  const bare_slot_use = slots.bare?.slot_use ?? Number.NaN;
  return {
    ...{ rows, slot_use, bare_slot_use, ideal_per_s, cpu_ms_per_lookup, cpu_of_others, added, bare_added },
    ...{ direct, round_trip },
    storage,
  };
};
