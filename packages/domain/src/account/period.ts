/** The UTC calendar month that `at` lies in, as `YYYY-MM`: the key of a usage row. */
export const periodOf = (at: Date): string => at.toISOString().slice(0, 7);

/** The end of a period, which is the start of the next: `reset_at` of the contract. */
export const periodEnd = (period: string): Date => {
  const [year = 0, month = 1] = period.split('-').map(Number);
  return new Date(Date.UTC(year, month, 1));
};
