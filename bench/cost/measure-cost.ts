import type { TestServers } from '@vat/testkit';
import { insertEndpoints } from '../deliveries/insert-deliveries.js';
import { measureRate } from '../deliveries/measure-rate.js';
import { openReceiver } from '../deliveries/open-receiver.js';
import { insertBacklog } from '../insert-rows.js';
import { measureLatency } from '../measure-latency.js';
import { measureSlots } from '../measure-slots.js';
import type { Percentiles } from '../measuring.js';
import { openWorld } from '../open-world.js';
import { type CostRow, type CpuCost, LATENCY_MS, type Measure, pick, type Size, totalOf, WORKING } from './cpu-cost.js';
import { measureBareJobs, measureRoundTrip } from './measure-bare.js';
import { measureLine } from './measure-line.js';
import { measureRead } from './measure-read.js';
import type { StorageFigures } from './measure-storage.js';

export type CostFigures = {
  rows: CostRow[];
  slot_use: number;
  ideal_per_s: number;
  cpu_ms_per_lookup: number | null;
  cpu_of_others: number | null;
  added: Percentiles;
  /** CPU of a direct check at the pace of {@link Size}. */
  direct: CpuCost;
  round_trip: Percentiles;
  storage: StorageFigures;
};

const bareCheck = async (servers: TestServers, checks: number): Promise<CpuCost> => {
  const world = await openWorld(0, { apis: 0, workers: 0 });
  try {
    await insertBacklog(world, checks);
    const rows = await world.sql<{ id: string }>('SELECT id FROM request ORDER BY id');
    return await measureBareJobs(servers, world, { ids: rows.map(({ id }) => id), work: 'check' });
  } finally {
    await world.stop();
  }
};

const ENDPOINTS = 200;

const measureDelivery: Measure = async (servers, { deliveries }) => {
  const receiver = await openReceiver(ENDPOINTS);
  try {
    const world = await openWorld(0, { apis: 0, workers: 0 }, receiver.settings);
    try {
      const stage = { servers, world, receiver, accounts: await insertEndpoints(world, receiver.urls) };
      const costOf = async (sender: 'ours' | 'got loop, logged'): Promise<CpuCost> => {
        const { cpu_ms } = await measureRate(stage, { sender, count: deliveries, profiled: false });
        return pick({ ...cpu_ms, worker: cpu_ms.sender }, ...WORKING);
      };
      const bare = await costOf('got loop, logged');
      const ours = await costOf('ours');
      const baseline = 'a loop of signed posts with got and their statements';
      return { what: 'a delivery', baseline, n: deliveries, ours, bare, goal: null };
    } finally {
      await world.stop();
    }
  } finally {
    await receiver.stop();
  }
};

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
  const check = Object.fromEntries(
    Object.entries(slots.cpu).map(([name, cores]) => [name, ((cores ?? Number.NaN) * 1_000) / slots.lookups_per_s]),
  );
  const rows: CostRow[] = [
    {
      ...{ what: 'a check', baseline: 'a BullMQ job and its statements', n: size.checks, bare, goal: 2.5 },
      ours: pick({ ...check, worker: check['worker 1'] }, ...WORKING),
    },
  ];
  for (const measure of [measureRead, measureDelivery, measureLine]) {
    rows.push(await measure(servers, size));
    const { what, ours, bare: least } = rows.at(-1) as CostRow;
    log(`cost: ${what}, ${totalOf(ours).toFixed(2)} ms of CPU, bare ${totalOf(least).toFixed(2)}`);
  }
  log('cost: added latency');
  const world = await openWorld(0, { apis: 0, workers: 0 });
  const round_trip = await measureRoundTrip(world, size.pace);
  await world.stop();
  const { added, cpu_ms: direct } = await measureLatency(servers, LATENCY_MS, size.pace);
  const { slot_use, ideal_per_s, cpu_ms_per_lookup, cpu_of_others, storage } = slots;
  return { rows, slot_use, ideal_per_s, cpu_ms_per_lookup, cpu_of_others, added, direct, round_trip, storage };
};
