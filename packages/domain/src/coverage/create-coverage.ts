import type { BatchUpload, StartBatchDeps } from '../batch/create-batch.js';
import { batchRowsOf, lineLimitAt, startBatch, throwRefusal } from '../batch/create-batch.js';
import { selectNumbers } from '../batch/pack-plan.js';
import { AppError } from '../errors.js';
import type { FindKey, IdempotencyKey, StoredAnswer, UnexpiredKey } from '../idempotency-key.js';
import { newUuidAt } from '../ids.js';
import { oncePerKey, type Replay } from '../once-per-key.js';
import type {
  Coverage,
  FindSupplyChecks,
  InsertCoverage,
  MinGrade,
  NewCoverageLine,
  PlannedSupply,
  SupplyPeriod,
} from './coverage.js';
import { decideCoverage, gradesFrom, periodOfSupply } from './decide-coverage.js';
import type { CoveragePlan } from './plan-coverage.js';

/** An upload whose file has been read and planned. */
export type CoverageUpload = Pick<BatchUpload, 'caller' | 'label' | 'fileName' | 'header' | 'createdAt'> & {
  /** Cells of the widest row, including the header. */
  width: number;
  maxAgeDays: number;
  minGrade: MinGrade;
  plan: CoveragePlan;
  idempotency: IdempotencyKey | null;
  /** The 201 of a coverage; stored with the key, byte for byte. */
  answerOf: (coverage: Coverage) => StoredAnswer;
};

type CreatedCoverage = { kind: 'created'; coverage: Coverage; answer: StoredAnswer };

/** `replay`: an earlier upload used the same Idempotency-Key. */
export type CoverageUploadResult = CreatedCoverage | Replay;

type CreateCoverageDeps = StartBatchDeps & {
  findKey: FindKey;
  findChecks: FindSupplyChecks;
  insert: InsertCoverage;
};

/** Supplies that one call of the port looks up: a short statement, also when each has a hundred checks. */
const CHUNK = 1_000;

const keyOf = ({ vatNumber, supplyDate }: { vatNumber: string | null; supplyDate: string }): string =>
  `${vatNumber} ${supplyDate}`;

/** Decides every line from what is recorded now; lines with the same number and date are looked up once. */
const decideLines = async (
  findChecks: FindSupplyChecks,
  { caller: { accountId }, plan, maxAgeDays, minGrade }: CoverageUpload,
): Promise<NewCoverageLine[]> => {
  const grades = gradesFrom(minGrade);
  const supplies = new Map<string, SupplyPeriod>();
  for (const { vatNumber, supplyDate } of plan.lines) {
    const supply = { vatNumber: vatNumber ?? '', supplyDate };
    if (vatNumber !== null && !supplies.has(keyOf(supply)))
      supplies.set(keyOf(supply), periodOfSupply(supply, maxAgeDays));
  }
  // Those of one number together: its checks are then read once.
  const periods = [...supplies.values()].sort(
    (a, b) => Number(a.vatNumber > b.vatNumber) - Number(a.vatNumber < b.vatNumber),
  );
  const decided = new Map<string, ReturnType<typeof decideCoverage>>();
  for (let from = 0; from < periods.length; from += CHUNK) {
    const chunk = periods.slice(from, from + CHUNK);
    const found = await findChecks(accountId, chunk, grades);
    for (const [index, supply] of chunk.entries()) {
      const checks = found[index];
      if (checks) decided.set(keyOf(supply), decideCoverage(checks, supply.from, grades));
    }
  }
  return plan.lines.map((line: PlannedSupply) => ({
    ...line,
    ...(decided.get(keyOf(line)) ?? { status: 'missing', check: null }),
  }));
};

/** The column of the file that a batch of gaps stands for. */
const GAPS_HEADER = ['vat_number'];

/**
 * Creates a coverage from a planned file: checks the account, the Idempotency-Key and the lines of the last 24 hours, and writes
 * the result of every line, and with it the batch of the uncovered numbers if the plan has one, in one transaction. The result
 * is that of this moment; later checks do not change it.
 * Throws ACCOUNT_DISABLED, IDEMPOTENCY_MISMATCH, IDEMPOTENCY_IN_PROGRESS, BATCH_LINE_LIMIT, TOO_MANY_BATCHES.
 */
export const createCoverage =
  (deps: CreateCoverageDeps) =>
  async (upload: CoverageUpload): Promise<CoverageUploadResult> => {
    const { caller, label, fileName, header, width, createdAt, maxAgeDays, minGrade, plan, idempotency, answerOf } =
      upload;
    const { accountId } = caller;
    if (caller.disabled) throw new AppError('ACCOUNT_DISABLED');
    const work = async (key: UnexpiredKey | null): Promise<CreatedCoverage | null> => {
      const lines = await decideLines(deps.findChecks, upload);
      const uncovered = new Set(lines.flatMap((line) => (line.status === 'covered' ? [] : (line.vatNumber ?? []))));
      const gapPlan = plan.gaps && (await selectNumbers(plan.gaps, uncovered));
      const gaps =
        gapPlan && gapPlan.counts.lines > 0
          ? batchRowsOf({ caller, label, fileName, requester: null, header: GAPS_HEADER, plan: gapPlan, createdAt })
          : null;
      const inserted = await deps.insert({
        id: newUuidAt(createdAt),
        accountId,
        label,
        fileName,
        maxAgeDays,
        minGrade,
        header,
        width,
        lines,
        gaps,
        createdAt,
        lineLimit: lineLimitAt(createdAt),
        idempotency: key,
        answerOf,
      });
      if (inserted.kind === 'key_taken') return null;
      if (inserted.kind !== 'created') return throwRefusal(inserted);
      const { coverage, answer, batch } = inserted;
      if (gaps && batch) startBatch(deps, gaps, batch);
      return { kind: 'created', coverage, answer };
    };
    return oncePerKey(deps.findKey, { accountId, idempotency, now: createdAt, work });
  };
