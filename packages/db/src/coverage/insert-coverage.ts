import {
  type CoverageInsertion,
  countStatuses,
  type InsertCoverage,
  type NewCoverageLine,
  packRows,
} from '@vat/domain';
import { lockAccount } from '../account/accounts.js';
import { writeBatch } from '../batch/insert-batch.js';
import {
  bindUpload,
  type InTurn,
  lockUploadKey,
  recordUpload,
  refuseTooManyLines,
  UPLOAD_TIMEOUT_MS,
} from '../batch/uploads.js';
import type { Database } from '../connect-database.js';
import { transact } from '../transaction.js';

/** Appends the cells, which are JSON already. */
const lineRow = ({ check, error, cellsJson, ...line }: NewCoverageLine): string => {
  const row = JSON.stringify({
    id: line.id,
    line: line.line,
    status: line.status,
    input: line.input,
    vat_number: line.vatNumber,
    supply_date: line.supplyDate,
    reference: line.reference,
    check_id: check?.id ?? null,
    checked_at: check?.checkedAt ?? null,
    evidence_grade: check?.grade ?? null,
    error_code: error?.code ?? null,
    error_message: error?.message ?? null,
  });
  return `${row.slice(0, -1)},"cells":${cellsJson}}`;
};

/**
 * Writes a coverage with its lines, and with the batch of its gaps, in one transaction. Its lines count in the limit of uploaded
 * lines. Rows are inserted before the account is locked, as for a batch; `rowsInTurn` is that of batches.
 */
export const insertCoverage =
  (db: Database, rowsInTurn: InTurn = (work) => work()): InsertCoverage =>
  async (coverage) =>
    transact<CoverageInsertion>(
      db,
      async (tx, refuse) => {
        const { id, accountId, label, fileName, maxAgeDays, minGrade, header, lines, gaps, createdAt } = coverage;
        const batchId = gaps?.id ?? null;
        const total = lines.length;
        const counts = countStatuses(lines);
        const upload = { ...coverage, lineCount: total };
        await lockUploadKey(tx, coverage, refuse);
        await refuseTooManyLines(tx, upload, refuse);
        await tx.$executeRaw`
          INSERT INTO coverage (id, account_id, label, file_name, header, max_age_days, min_grade, width, total, covered, stale,
            weak, invalid, missing, batch_id, created_at)
          VALUES (${id}::uuid, ${accountId}::uuid, ${label}, ${fileName},
            ${header === null ? null : JSON.stringify(header)}::jsonb, ${maxAgeDays}::int, ${minGrade}, ${coverage.width}::int,
            ${total}::int, ${counts.covered}::int, ${counts.stale}::int, ${counts.weak}::int, ${counts.invalid}::int,
            ${counts.missing}::int, ${batchId}::uuid, ${createdAt}::timestamptz)`;
        for (const chunk of packRows(lines, lineRow))
          await rowsInTurn(
            () => tx.$executeRaw`
            INSERT INTO coverage_line (id, coverage_id, line, status, input, vat_number, supply_date, reference, check_id,
              checked_at, evidence_grade, error_code, error_message, cells)
            SELECT x.id, ${id}::uuid, x.line, x.status, x.input, x.vat_number, x.supply_date, x.reference, x.check_id,
              x.checked_at, x.evidence_grade, x.error_code, x.error_message, x.cells
            FROM jsonb_to_recordset(${chunk}::jsonb) AS x(id uuid, line int, status text, input text, vat_number text,
              supply_date date, reference text, check_id uuid, checked_at timestamptz, evidence_grade text, error_code text,
              error_message text, cells jsonb)`,
          );
        const written = gaps && (await writeBatch(tx, gaps, { refuse, inTurn: rowsInTurn }));
        await lockAccount(tx, accountId);
        await refuseTooManyLines(tx, upload, refuse);
        await recordUpload(tx, upload);
        const created = { id, label, fileName, maxAgeDays, minGrade, total, ...counts, batchId, createdAt };
        const answer = coverage.answerOf(created);
        await bindUpload(tx, coverage, answer, refuse);
        const batch = written && { completed: written.batch.status === 'completed', deliveryId: written.deliveryId };
        return { kind: 'created', coverage: created, answer, batch };
      },
      { timeout: UPLOAD_TIMEOUT_MS },
    );
