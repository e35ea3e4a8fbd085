import { createMetrics } from '@vat/runtime';
import { auditFinding } from './audit-finding.js';

const HOUR_MS = 3_600_000;

test('what an audit found is reported until two intervals have passed without another audit in this process', async () => {
  let hours = 0;
  const { usageDifferences } = createMetrics('test');
  const finding = auditFinding(usageDifferences, HOUR_MS, () => new Date(Date.UTC(2026, 10, 20, hours)));
  const shownAt = async (hour: number) => {
    hours = hour;
    finding.withdrawWhenOld();
    return (await usageDifferences.get()).values[0]?.value;
  };
  finding.report(3);
  expect([await shownAt(1), await shownAt(2), await shownAt(3)]).toEqual([3, 3, 0]);
  finding.report(1);
  finding.report(0);
  expect(await shownAt(3)).toBe(0);
});
