import type { FoundChecks } from './check-records.js';
import { counted, type ReportBuilder } from './dossier-report.js';
import { dayOf, type Json, readCellsBelow } from './read-content.js';
import type { DossierFiles } from './read-dossier-zip.js';

const COVERAGE = 'coverage/results.csv';

/** The columns that the results of a coverage add, as every release has written them. */
const COLUMNS = [
  ...['coverage', 'vat_number_read', 'supply_date_read', 'check_id', 'checked_at', 'age_days', 'evidence_grade'],
  'error',
] as const;

/** Why a check does not cover a supply of that date, or null. */
const findReason = ({ verdict, checked_at }: Json, supplyDate: string | undefined): string | null => {
  if (verdict !== 'valid') return 'did not say valid';
  return dayOf(checked_at) > dayOf(supplyDate) ? 'was made after the supply' : null;
};

/** Compares each supply that the results call covered with the check that covers it. Returns the number of supplies. */
export const checkCoverage = (files: DossierFiles, checks: FoundChecks, report: ReportBuilder): number => {
  if (!files.has(COVERAGE)) return 0;
  const { header, rows } = readCellsBelow(files, COVERAGE);
  if (header.slice(-COLUMNS.length).join() !== COLUMNS.join()) {
    report.problem('coverage_columns', { file: COVERAGE });
    return 0;
  }
  let [covered, absent] = [0, 0];
  for (const [index, cells] of rows.entries()) {
    const [status, number, supplyDate, check_id = '', checkedAt, age, grade] = cells.slice(-COLUMNS.length);
    if (status !== 'covered') continue;
    const body = checks.get(check_id)?.body;
    if (!body) {
      absent += 1;
      continue;
    }
    covered += 1;
    const place = { file: COVERAGE, row: index + 1, check_id };
    const reason = findReason(body, supplyDate);
    if (reason !== null) report.problem('coverage_unproved', { ...place, reason });
    const expected: [column: (typeof COLUMNS)[number], cell: string | undefined, value: unknown][] = [
      ['vat_number_read', number, body.vat_number],
      ['checked_at', checkedAt, body.checked_at],
      ['age_days', age, String(dayOf(supplyDate) - dayOf(body.checked_at))],
      ['evidence_grade', grade, 'evidence_grade' in body ? body.evidence_grade : grade],
    ];
    for (const [column, cell, value] of expected)
      if (cell !== value) report.problem('coverage_cell', { ...place, column });
  }
  report.passed(
    `${covered} of ${counted(rows.length, 'supply', 'supplies')} ${covered === 1 ? 'is' : 'are'} covered, as the checks say.`,
  );
  if (absent > 0)
    report.note(
      `${counted(absent, 'covered supply has', 'covered supplies have')} no check in the dossier, because it was deleted before the export: nothing here proves ${absent === 1 ? 'it' : 'them'}.`,
    );
  return rows.length;
};
