import type { LineErrorCode, ResultLine } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';

type ResultRow = {
  id: string;
  cells: string;
  vat_number: string | null;
  error_code: LineErrorCode | null;
  error_message: string | null;
  check_id: string | null;
  body: Uint8Array | null;
};

/** A slice of the lines of a batch after `afterId`, in the order of the file, each with what became of it. */
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
