import type { BatchRows, LineError, LineLimit, UploadRefusal } from '../batch/batch.js';
import type { EvidenceGrade } from '../check/evidence-grade.js';
import type { StoredAnswer, UnexpiredKey } from '../idempotency-key.js';

/**
 * Whether a supply is covered by a check of its number:
 * - `covered`: a valid check in time, of at least the wanted grade, and no later answer says otherwise
 * - `stale`: the last check says valid, but is too old
 * - `weak`: the last check says valid in time, but no check in time has the wanted grade
 * - `invalid`: the last check before the supply says invalid
 * - `missing`: there is no check before the supply, or the line has no number
 */
export const COVERAGE_STATUSES = ['covered', 'stale', 'weak', 'invalid', 'missing'] as const;
export type CoverageStatus = (typeof COVERAGE_STATUSES)[number];

/** The grades that can be demanded: `none` is the grade of checks that are not valid. */
export const MIN_GRADES = ['basic', 'named', 'corroborated', 'qualified'] as const satisfies readonly EvidenceGrade[];
export type MinGrade = (typeof MIN_GRADES)[number];

/** Days that a check may be older than the supply. */
export const MAX_AGE_DAYS = { min: 1, max: 366, default: 30 } as const;

type CoverageCounts = Record<CoverageStatus, number>;

/** The result for a file of supplies, as the API shows it. Ids are UUIDs. */
export type Coverage = CoverageCounts & {
  id: string;
  label: string | null;
  fileName: string | null;
  maxAgeDays: number;
  minGrade: MinGrade;
  total: number;
  /** The batch of the uncovered numbers. */
  batchId: string | null;
  createdAt: Date;
};

/** The check that decides the status of a line. */
export type CoverageCheck = { id: string; checkedAt: Date; grade: EvidenceGrade };

/** A row of the file, as the API shows it. `supplyDate`: `YYYY-MM-DD`. */
export type CoverageLine = {
  id: string;
  line: number;
  status: CoverageStatus;
  input: string;
  vatNumber: string | null;
  supplyDate: string;
  reference: string | null;
  /** For a covered line the check that covers it; otherwise the last check before the supply. */
  check: CoverageCheck | null;
  /** Why the number or the reference cannot be used. */
  error: LineError | null;
};

/** A line of the results file. `cellsJson`: a JSON array of texts. */
export type CoverageResultLine = Omit<CoverageLine, 'line' | 'input' | 'reference'> & { cellsJson: string };

/** A supply to look up: checks of `vatNumber` until the end of `supplyDate`, UTC. */
export type Supply = { vatNumber: string; supplyDate: string };

/**
 * What is recorded about a supply. `last`: the last check until its date. `strong`: the latest valid check in time with a wanted
 * grade; looked up only when the last check is valid, in time, and of a lower grade.
 */
export type SupplyChecks = {
  last: (CoverageCheck & { valid: boolean }) | null;
  strong: CoverageCheck | null;
};

/** The period in which a check covers a supply, from its beginning and before its end. */
export type SupplyPeriod = Supply & { from: Date; before: Date };

/** Port: the recorded live checks of an account about supplies, in the order of `supplies`. */
export type FindSupplyChecks = (
  accountId: string,
  supplies: readonly SupplyPeriod[],
  grades: readonly EvidenceGrade[],
) => Promise<SupplyChecks[]>;

/** A line as the file determines it. */
export type PlannedSupply = Omit<CoverageLine, 'status' | 'check'> & { cellsJson: string };

/** A line to be stored. */
export type NewCoverageLine = PlannedSupply & Pick<CoverageLine, 'status' | 'check'>;

/** A coverage to be written. `gaps`: the batch of the uncovered numbers. */
export type NewCoverage = Omit<Coverage, keyof CoverageCounts | 'total' | 'batchId'> & {
  accountId: string;
  /** The file's header row, unchanged; null when it had none. */
  header: string[] | null;
  /** Cells of the widest row, including the header. */
  width: number;
  lines: NewCoverageLine[];
  gaps: BatchRows | null;
  lineLimit: LineLimit;
  idempotency: UnexpiredKey | null;
  answerOf: (coverage: Coverage) => StoredAnswer;
};

/** `batch`: that of the gaps, with the delivery of its batch.completed when none of its lines can be looked up. */
type CoverageInsertion =
  | {
      kind: 'created';
      coverage: Coverage;
      answer: StoredAnswer;
      batch: { completed: boolean; deliveryId: string | null } | null;
    }
  | UploadRefusal;

/** Port: writes a coverage, its lines and the batch of its gaps, and binds the key with the answer, or changes nothing. */
export type InsertCoverage = (coverage: NewCoverage) => Promise<CoverageInsertion>;

export const countStatuses = (lines: readonly { status: CoverageStatus }[]): CoverageCounts => {
  const counts: CoverageCounts = { covered: 0, stale: 0, weak: 0, invalid: 0, missing: 0 };
  for (const { status } of lines) counts[status] += 1;
  return counts;
};
