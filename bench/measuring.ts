import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds, to a hundredth. */
export type Percentiles = { n: number; p50: number; p95: number; p99: number };

/** Percentiles by nearest rank, so that each is a measured value. Throws for an empty list. */
export const percentiles = (values: readonly number[]): Percentiles => {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
    if (value === undefined) throw new Error('nothing was measured');
    return Math.round(value * 100) / 100;
  };
  return { n: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) };
};

/** The machine's monotonic clock in milliseconds, with fractions. All processes of the machine share it. */
export const clockMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/**
 * Calls `count` times at `rate` calls a second, without waiting for earlier answers, so that a stall affects all calls during
 * it.
 */
export const callPaced = async <T>(rate: number, count: number, call: (n: number) => Promise<T>): Promise<T[]> => {
  const start = performance.now();
  const calls: Promise<T>[] = [];
  for (let n = 0; n < count; n += 1) {
    await pause(Math.max(0, start + (n * 1_000) / rate - performance.now()));
    calls.push(call(n));
  }
  return Promise.all(calls);
};

/** For how long calls are timed at which rate, and how many are made before. */
export type Pace = { perSecond: number; seconds: number; warmUpCalls: number };

/** The rate of calls that warm a process up, far below what it can serve. */
const WARM_UP_PER_SECOND = 100;

/** Makes `count` calls before a measurement: processes run for days, and their first thousands of calls run code that is not compiled yet. */
export const warmUp = (count: number, call: (n: number) => Promise<unknown>): Promise<unknown[]> =>
  callPaced(WARM_UP_PER_SECOND, count, call);

/** A Markdown table. */
export const renderTable = (head: string[], rows: (string | number)[][]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
