import type { TestServers } from '@vat/testkit';
import { cpuBetween, readCpu } from '../cpu-usage.js';
import type { SlotUse } from '../measure-slot-use.js';
import type { Pace } from '../measuring.js';

/** CPU milliseconds (user and system) of one piece of work, by process. */
export type CpuCost = Record<string, number>;

/** The CPU time of one of `count` pieces, by process, from the seconds of all of them; a process without a time has NaN. */
export const msEach = (seconds: Record<string, number | null>, count: number): CpuCost =>
  Object.fromEntries(Object.entries(seconds).map(([name, s]) => [name, ((s ?? Number.NaN) * 1_000) / count]));

/** The CPU time of each process during `work`, for one of `count` pieces. `pids`: as for {@link readCpu}. */
export const measureCpu = async (
  pids: Record<string, number>,
  count: number,
  work: () => Promise<unknown>,
): Promise<CpuCost> => {
  const before = readCpu(pids);
  await work();
  return msEach(cpuBetween(before, readCpu(pids)).used, count);
};

/** Takes some processes of a cost, in this order. */
export const pick = (cost: Record<string, number | null | undefined>, ...names: string[]): CpuCost =>
  Object.fromEntries(names.map((name) => [name, cost[name] ?? Number.NaN]));

/** The CPU time of a lookup by the only worker. */
export const costOfLookup = ({ cpu, lookups_per_s }: Pick<SlotUse, 'cpu' | 'lookups_per_s'>): CpuCost =>
  pick(msEach({ ...cpu, worker: cpu['worker 1'] ?? null }, lookups_per_s), ...WORKING);

/** The sum over all processes. */
export const totalOf = (cost: CpuCost): number => Object.values(cost).reduce((sum, ms) => sum + ms, 0);

/** Adds costs of the same piece of work, process by process. */
export const sumOf = (...costs: CpuCost[]): CpuCost => {
  const sum: CpuCost = {};
  for (const cost of costs) for (const [name, ms] of Object.entries(cost)) sum[name] = (sum[name] ?? 0) + ms;
  return sum;
};

/** The least of several rounds. */
export const leastOf = (costs: readonly CpuCost[]): CpuCost =>
  costs.reduce((a, b) => (totalOf(b) < totalOf(a) ? b : a));

/** What one piece of work costs the service, beside the least that it could cost. */
export type CostRow = { what: string; baseline: string; n: number; ours: CpuCost; bare: CpuCost; goal: number | null };

/** How often each piece of work is done. */
export type Size = { checks: number; reads: number; deliveries: number; lines: number; pace: Pace };
export type Measure = (servers: TestServers, size: Size) => Promise<CostRow>;

/** Of the upstream. */
export const LATENCY_MS = 100;
/** The processes that work on jobs. */
export const WORKING = ['worker', 'postgres', 'redis'] as const;
