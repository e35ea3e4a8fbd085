import { auditedFrom, auditedPeriods, periodEnd, periodOf } from './account.js';

test.each([
  ['2026-11-30T23:59:59.999Z', '2026-11', '2026-12-01T00:00:00.000Z'],
  ['2026-12-01T00:00:00.000Z', '2026-12', '2027-01-01T00:00:00.000Z'],
  ['2028-02-29T12:00:00.000Z', '2028-02', '2028-03-01T00:00:00.000Z'],
])('%s lies in %s, which ends at %s', (at, period, end) => {
  expect(periodOf(new Date(at))).toBe(period);
  expect(periodEnd(period).toISOString()).toBe(end);
});

test.each([
  ['2026-12-01T00:00:00.000Z', ['2026-11', '2026-12']],
  ['2026-12-10T23:59:59.999Z', ['2026-11', '2026-12']],
  ['2026-12-11T00:00:00.000Z', ['2026-12']],
  ['2027-01-10T23:59:59.999Z', ['2026-12', '2027-01']],
])('at %s the audit looks at %j', (at, periods) => {
  expect(auditedPeriods(new Date(at))).toEqual(periods);
  expect(auditedFrom(new Date(at)).toISOString()).toBe(`${periods[0]}-01T00:00:00.000Z`);
});
