import type { TestServers } from '@vat/testkit';
import type { CpuCost } from './cpu-cost.js';

/** What one piece of work costs the service, beside the least that it could cost. */
export type CostRow = { what: string; baseline: string; n: number; ours: CpuCost; bare: CpuCost; goal: number | null };

/** How often each piece of work is done. */
export type Size = { checks: number; reads: number; deliveries: number; lines: number; seconds: number };
export type Measure = (servers: TestServers, size: Size) => Promise<CostRow>;

/** Of the upstream. */
export const LATENCY_MS = 100;
/** The processes that work on jobs. */
export const WORKING = ['worker', 'postgres', 'redis'] as const;
