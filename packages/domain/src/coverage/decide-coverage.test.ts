import type { CoverageCheck, SupplyChecks } from './coverage.js';
import { decideCoverage, gradesFrom, periodOfSupply } from './decide-coverage.js';

const SUPPLY = { vatNumber: 'FR40303265045', supplyDate: '2026-10-31' };
const { from } = periodOfSupply(SUPPLY, 30);

const checkAt = (at: string, grade: CoverageCheck['grade'] = 'basic'): CoverageCheck => ({
  id: at,
  checkedAt: new Date(at),
  grade,
});
const valid = (at: string, grade: CoverageCheck['grade'] = 'basic'): SupplyChecks => ({
  last: { ...checkAt(at, grade), valid: true },
  strong: null,
});

test('the period is whole days in UTC, with the day of the supply', () => {
  expect(periodOfSupply(SUPPLY, 30)).toEqual({
    ...SUPPLY,
    from: new Date('2026-10-01T00:00:00.000Z'),
    before: new Date('2026-11-01T00:00:00.000Z'),
  });
  expect(periodOfSupply(SUPPLY, 366).from).toEqual(new Date('2025-10-30T00:00:00.000Z'));
});

test.each([
  ['covered on the first moment of the period', valid('2026-10-01T00:00:00.000Z'), 'covered'],
  ['stale a moment before', valid('2026-09-30T23:59:59.999Z'), 'stale'],
  ['covered on the day of the supply', valid('2026-10-31T23:59:59.999Z'), 'covered'],
  ['missing without a check', { last: null, strong: null }, 'missing'],
  [
    'invalid when the last check says so',
    { last: { ...checkAt('2026-10-30T00:00:00.000Z', 'none'), valid: false }, strong: null },
    'invalid',
  ],
] as const)('%s', (_what, checks, status) => {
  expect(decideCoverage(checks, from, gradesFrom('basic')).status).toBe(status);
});

test('a check in time of a lower grade is weak, unless an earlier one in time has the grade', () => {
  const weak = valid('2026-10-20T00:00:00.000Z', 'named');
  const strong = checkAt('2026-10-02T00:00:00.000Z', 'qualified');
  expect(decideCoverage(weak, from, gradesFrom('named')).status).toBe('covered');
  expect(decideCoverage(weak, from, gradesFrom('qualified'))).toEqual({
    status: 'weak',
    check: checkAt('2026-10-20T00:00:00.000Z', 'named'),
  });
  expect(decideCoverage({ ...weak, strong }, from, gradesFrom('qualified'))).toEqual({
    status: 'covered',
    check: strong,
  });
});
