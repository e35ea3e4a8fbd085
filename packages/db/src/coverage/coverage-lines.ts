import type { CoverageCheck, CoverageLine, CoverageResultLine, CoverageStatus, EvidenceGrade } from '@vat/domain';
import { LINE_ERROR, lineError } from '../batch/batch-lines.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { columns, query, type RowOf, typed } from '../query.js';

const RESULT = columns({
  status: typed<CoverageStatus>('text'),
  vatNumber: 'text?',
  supplyDate: 'text',
  checkId: 'uuid?',
  checkedAt: 'timestamptz?',
  grade: typed<EvidenceGrade | null>('text?'),
  ...LINE_ERROR,
});
const LINE = columns({ id: 'uuid', line: 'int4', input: 'text', reference: 'text?', ...RESULT });
const RESULT_LINE = columns({ id: 'uuid', cellsJson: 'text', ...RESULT });

/** The columns of {@link RESULT} of lines `l`. */
const RESULT_LIST = Prisma.sql`
  l.status, l.vat_number AS "vatNumber", l.supply_date::text AS "supplyDate", l.check_id AS "checkId",
  l.checked_at AS "checkedAt", l.evidence_grade AS grade, l.error_code AS "errorCode", l.error_message AS "errorMessage"`;

const nested = <Row extends RowOf<typeof RESULT>>({
  checkId,
  checkedAt,
  grade,
  errorCode,
  errorMessage,
  ...line
}: Row) => ({
  ...line,
  check:
    checkId === null || checkedAt === null || grade === null
      ? null
      : ({ id: checkId, checkedAt, grade } satisfies CoverageCheck),
  error: lineError({ errorCode, errorMessage }),
});

/** `status`: only lines with it. `afterId`: the last id of the previous page. */
export type WantedCoverageLines = { status: CoverageStatus | undefined; afterId: string | null; limit: number };

/** A page of the lines of an account's coverage in the order of the file; `null` when the account has no such coverage. */
export const listCoverageLines =
  (db: Queryable) =>
  async (
    coverageId: string,
    accountId: string,
    { status, afterId, limit }: WantedCoverageLines,
  ): Promise<CoverageLine[] | null> => {
    const withStatus = status === undefined ? Prisma.empty : Prisma.sql`AND l.status = ${status}`;
    const after = afterId === null ? Prisma.empty : Prisma.sql`AND l.id > ${afterId}::uuid`;
    // With the outer join, a coverage without such lines returns one row of nulls, and a missing one returns no row.
    const rows = await query(db, LINE)`
      SELECT l.id, l.line, l.input, l.reference, ${RESULT_LIST}
      FROM coverage c LEFT JOIN LATERAL (
        SELECT * FROM coverage_line l WHERE l.coverage_id = c.id ${withStatus} ${after} ORDER BY l.id LIMIT ${limit}::int
      ) l ON true
      WHERE c.id = ${coverageId}::uuid AND c.account_id = ${accountId}::uuid ORDER BY l.id`;
    if (rows.length === 0) return null;
    return rows.filter(({ id }) => id !== null).map(nested);
  };

/** A page of the lines of a coverage after `afterId`, in the order of the file, for its files. */
export const readCoverageResults =
  (db: Queryable) =>
  async (coverageId: string, afterId: string | null, limit: number): Promise<CoverageResultLine[]> => {
    const after = afterId === null ? Prisma.empty : Prisma.sql`AND l.id > ${afterId}::uuid`;
    const rows = await query(db, RESULT_LINE)`
      SELECT l.id, l.cells::text AS "cellsJson", ${RESULT_LIST}
      FROM coverage_line l WHERE l.coverage_id = ${coverageId}::uuid ${after} ORDER BY l.id LIMIT ${limit}::int`;
    return rows.map(nested);
  };
