import type { BatchRow, PackedPlan } from '../batch/batch.js';
import { packPlan } from '../batch/pack-plan.js';
import { planBatch, planLine, storableText } from '../batch/plan-batch.js';
import { uuidsAt } from '../ids.js';
import { stripUnsafeCharacters } from '../strip-unsafe-characters.js';
import type { PlannedSupply } from './coverage.js';
import { supplyDateOf } from './read-supply-date.js';

/** A data row of a coverage file. `supplyDate`: the cell after repairs, not read yet. */
export type SupplyRow = BatchRow & { supplyDate: string };

/** The lines of a file in its order. `gaps`: a batch of all its numbers, each once; null when none is wanted. */
export type CoveragePlan = { lines: PlannedSupply[]; gaps: PackedPlan | null };

/**
 * Turns the rows of a file into its lines, and with `withGaps` into the batch of its numbers. A line whose number or reference
 * cannot be used has an error. Throws INVALID_CSV with the line of the first date that cannot be read: a wrong date would give a
 * wrong result without a sign. Ten thousand rows take half a second, so this must not run in a thread that serves callers.
 */
export const planCoverage = (
  rows: readonly SupplyRow[],
  { withGaps, at }: { withGaps: boolean; at: Date },
): CoveragePlan => {
  const numbers = new Map<string, BatchRow>();
  // Lines are read in the order of their ids.
  const newId = uuidsAt(at);
  const lines = rows.map((row): PlannedSupply => {
    const supplyDate = supplyDateOf(row, at);
    const { read, reference, error } = planLine({ ...row, requester: null }, null);
    const vatNumber = read?.vatNumber ?? null;
    if (withGaps && vatNumber !== null && !numbers.has(vatNumber))
      numbers.set(vatNumber, { ...row, cells: [vatNumber], reference: null });
    return {
      id: newId(),
      line: row.line,
      input: storableText(stripUnsafeCharacters(row.candidate)),
      vatNumber,
      supplyDate,
      reference: reference === null || error?.code === 'INVALID_REFERENCE' ? null : storableText(reference),
      error,
      cellsJson: JSON.stringify(row.cells.map(storableText)),
    };
  });
  const gaps = withGaps ? packPlan(planBatch({ rows: [...numbers.values()], requester: null, at })) : null;
  return { lines, gaps };
};
