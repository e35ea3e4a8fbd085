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
