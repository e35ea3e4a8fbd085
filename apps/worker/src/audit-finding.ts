import type { Metrics } from '@vat/runtime';

/** How many intervals a finding is reported for. The next audit may take longer than the one before it. */
const INTERVALS = 2;

/**
 * The number of differences that the last audit of this process found, as a metric. Any worker may make the next audit, and it
 * reports in that process alone: what an audit found is withdrawn after two intervals, or the alert would never end.
 */
export const auditFinding = (gauge: Metrics['usageDifferences'], everyMs: number, now: () => Date) => {
  let reportedAt = 0;
  return {
    report: (differences: number): void => {
      gauge.set(differences);
      reportedAt = now().getTime();
    },
    withdrawWhenOld: (): void => {
      if (now().getTime() - reportedAt > INTERVALS * everyMs) gauge.set(0);
    },
  };
};
