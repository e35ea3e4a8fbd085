/** Milliseconds as a person reads them: 38 ms, 1.2 s, 3 min, 2 h 5 min. */
export const duration = (ms: number): string => {
  const number = (value: number, digits: number) =>
    new Intl.NumberFormat(undefined, { maximumFractionDigits: digits }).format(value);
  if (ms < 1_000) return `${number(ms, 0)} ms`;
  if (ms < 10_000) return `${number(ms / 1_000, 1)} s`;
  if (ms < 120_000) return `${number(ms / 1_000, 0)} s`;
  if (ms < 3_600_000) return `${number(ms / 60_000, 0)} min`;
  const minutes = Math.round(ms / 60_000);
  return `${number(Math.floor(minutes / 60), 0)} h ${minutes % 60} min`;
};
