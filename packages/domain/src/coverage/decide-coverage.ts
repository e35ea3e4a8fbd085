import { EVIDENCE_GRADES, type EvidenceGrade } from '../check/evidence-grade.js';
import type { CoverageCheck, CoverageStatus, MinGrade, Supply, SupplyChecks, SupplyPeriod } from './coverage.js';

const DAY_MS = 86_400_000;

/**
 * The period in which a check covers a supply: whole days in UTC, from `maxAgeDays` days before the supply until the end of its
 * own day.
 */
export const periodOfSupply = ({ vatNumber, supplyDate }: Supply, maxAgeDays: number): SupplyPeriod => {
  const day = Date.parse(supplyDate);
  return {
    vatNumber,
    supplyDate,
    from: new Date(day - maxAgeDays * DAY_MS),
    before: new Date(day + DAY_MS),
  };
};

export const gradesFrom = (minGrade: MinGrade): readonly EvidenceGrade[] =>
  EVIDENCE_GRADES.slice(EVIDENCE_GRADES.indexOf(minGrade));

/**
 * The status of a supply, and the check that decides it. The last answer before the supply prevails: a number that was found
 * invalid is `invalid`, also when an earlier check in time said valid, because the supplier knew. Pure.
 */
export const decideCoverage = (
  { last, strong }: SupplyChecks,
  from: Date,
  grades: readonly EvidenceGrade[],
): { status: CoverageStatus; check: CoverageCheck | null } => {
  if (last === null) return { status: 'missing', check: null };
  const { valid, ...check } = last;
  if (!valid) return { status: 'invalid', check };
  if (check.checkedAt < from) return { status: 'stale', check };
  if (grades.includes(check.grade)) return { status: 'covered', check };
  return strong === null ? { status: 'weak', check } : { status: 'covered', check: strong };
};
