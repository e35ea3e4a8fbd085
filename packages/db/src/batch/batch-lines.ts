import type { BatchLine, LineErrorCode, LineStatus, ResultLine } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

type LineRow = {
  id: string;
  line: number;
  status: LineStatus;
  input: string;
  vat_number: string | null;
  reference: string | null;
  check_id: string | null;
  error_code: LineErrorCode | null;
  error_message: string | null;
};

/** `status`: only lines with it. `afterId`: the last id of the previous page. */
export type WantedLines = { status: LineStatus | undefined; afterId: string | null; limit: number };

/** A page of the lines of an account's batch in the order of the file (and of their ids); `null` when the account has no such batch. */
export const listLines =
  (db: Queryable) =>
  async (batchId: string, accountId: string, { status, afterId, limit }: WantedLines): Promise<BatchLine[] | null> => {
    const withStatus = status === undefined ? Prisma.empty : Prisma.sql`AND l.status = ${status}`;
    const after = afterId === null ? Prisma.empty : Prisma.sql`AND l.id > ${afterId}::uuid`;
    // With the outer join, a batch without such lines returns one row of nulls, and a missing batch returns no row.
    const rows = await db.$queryRaw<(LineRow | Record<keyof LineRow, null>)[]>`
      SELECT page.id, page.line, page.status, page.input, page.vat_number, page.reference, page.check_id,
        page.error_code, page.error_message
      FROM batch b LEFT JOIN LATERAL (
        SELECT l.id, l.line, l.status, l.input, l.vat_number, l.reference, l.check_id, l.error_code, l.error_message
        FROM batch_line l WHERE l.batch_id = b.id ${withStatus} ${after} ORDER BY l.id LIMIT ${limit}::int
      ) page ON true
      WHERE b.id = ${batchId}::uuid AND b.account_id = ${accountId}::uuid ORDER BY page.id`;
    if (rows.length === 0) return null;
    return rows
      .filter((row) => row.id !== null)
      .map((row) => ({
        id: row.id,
        line: row.line,
        status: row.status,
        input: row.input,
        vatNumber: row.vat_number,
        reference: row.reference,
        checkId: row.check_id,
        error: row.error_code && { code: row.error_code, message: row.error_message ?? '' },
      }));
  };

type ResultRow = {
  id: string;
  cells: string;
  vat_number: string | null;
  error_code: LineErrorCode | null;
  error_message: string | null;
  check_id: string | null;
  body: Uint8Array | null;
};

/** A page of the lines of a batch after `afterId`, in the order of the file, each with its result. */
export const readResults =
  (db: Queryable) =>
  async (batchId: string, afterId: string | null, limit: number): Promise<ResultLine[]> => {
    const after = afterId === null ? Prisma.empty : Prisma.sql`AND l.id > ${afterId}::uuid`;
    const rows = await db.$queryRaw<ResultRow[]>`
      SELECT l.id, l.cells::text AS cells, l.vat_number, l.error_code, l.error_message, l.check_id, c.body
      FROM batch_line l LEFT JOIN "check" c ON c.id = l.check_id
      WHERE l.batch_id = ${batchId}::uuid ${after} ORDER BY l.id LIMIT ${limit}::int`;
    return rows.map((row) => ({
      id: row.id,
      cellsJson: row.cells,
      vatNumber: row.vat_number,
      error: row.error_code && { code: row.error_code, message: row.error_message ?? '' },
      check: row.check_id !== null && row.body !== null ? { id: row.check_id, bytes: row.body } : null,
    }));
  };

/**
 * The start of a results file: the name of the uploaded file, its header row (`null` without one), the number of cells in its
 * widest row, and the number of lines.
 */
export type ResultsHead = { fileName: string | null; header: string[] | null; width: number; total: number };

/** The start of the results file of an account's batch; `null` when the account has no such batch. */
export const findResultsHead =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<ResultsHead | null> => {
    const [row] = await db.$queryRaw<
      { file_name: string | null; header: string[] | null; width: number; total: number }[]
    >`
      SELECT b.file_name, b.header, b.total, GREATEST(jsonb_array_length(b.header), (
        SELECT max(jsonb_array_length(l.cells)) FROM batch_line l WHERE l.batch_id = b.id
      )) AS width
      FROM batch b WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid`;
    return row ? { fileName: row.file_name, header: row.header, width: row.width, total: row.total } : null;
  };
