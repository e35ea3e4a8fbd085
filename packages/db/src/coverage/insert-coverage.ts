import { countStatuses, type InsertCoverage, type NewCoverageLine, packRows } from '@vat/domain';
import { writeBatch } from '../batch/insert-batch.js';
import { type InTurn, recordUpload, refuseTooManyLines, transactUpload } from '../batch/uploads.js';
import type { Database } from '../connect-database.js';

/** Appends the cells, which are JSON already. */
const lineRow = ({ cellsJson, ...line }: NewCoverageLine): string =>
  `${JSON.stringify(line).slice(0, -1)},"cells":${cellsJson}}`;

/**
 * Writes a coverage with its lines, and with the batch of its gaps, in one transaction. Its lines count in the limit of uploaded
 * lines. Rows are inserted before the account is locked, as for a batch; `rowsInTurn` is that of batches.
 */
export const insertCoverage =
  (db: Database, rowsInTurn: InTurn = (work) => work()): InsertCoverage =>
  (coverage) =>
    transactUpload(db, coverage, async (transaction) => {
      const { tx, refuse, lock } = transaction;
      const { id, accountId, label, fileName, maxAgeDays, minGrade, header, lines, gaps, createdAt } = coverage;
      const batchId = gaps?.id ?? null;
      const total = lines.length;
      const counts = countStatuses(lines);
      const upload = { ...coverage, lineCount: total };
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
            SELECT x.id, ${id}::uuid, x.line, x.status, x.input, x."vatNumber", x."supplyDate", x.reference,
              (x."check" ->> 'id')::uuid, (x."check" ->> 'checkedAt')::timestamptz, x."check" ->> 'grade',
              x.error ->> 'code', x.error ->> 'message', x.cells
            FROM jsonb_to_recordset(${chunk}::jsonb) AS x(id uuid, line int, status text, input text, "vatNumber" text,
              "supplyDate" date, reference text, "check" jsonb, error jsonb, cells jsonb)`,
        );
      const written = gaps && (await writeBatch(transaction, gaps, rowsInTurn));
      if (!written) await lock();
      await refuseTooManyLines(tx, upload, refuse);
      await recordUpload(tx, upload);
      const created = { id, label, fileName, maxAgeDays, minGrade, total, ...counts, batchId, createdAt };
      const batch = written && { completed: written.batch.status === 'completed', deliveryId: written.deliveryId };
      return { coverage: created, answer: coverage.answerOf(created), batch };
    });
