import type { BatchLine, CheckBody, LineError, LineErrorCode, LineStatus, ResultLine } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, typed } from '../query.js';
import { madeAfter } from '../uuid-bounds.js';

type ErrorColumns = { errorCode: LineErrorCode | null; errorMessage: string | null };
/** The error of a line from its columns. */
export const lineError = ({ errorCode, errorMessage }: ErrorColumns): LineError | null =>
  errorCode && { code: errorCode, message: errorMessage ?? '' };

/** The columns of the error of a line. */
export const LINE_ERROR = columns({ errorCode: typed<LineErrorCode | null>('text?'), errorMessage: 'text?' });
const LINE = columns({
  id: 'uuid',
  line: 'int4',
  status: typed<LineStatus>('text'),
  input: 'text',
  ...all('text?', 'vatNumber', 'reference'),
  checkId: 'uuid?',
  valid: 'bool?',
  body: 'bytea?',
  ...LINE_ERROR,
});
const RESULT = columns({
  id: 'uuid',
  cellsJson: 'text',
  vatNumber: 'text?',
  checkId: 'uuid?',
  body: 'bytea?',
  ...LINE_ERROR,
});

/** `status`, `valid`: only lines with it. `afterId`: the last id of the previous page. */
export type WantedLines = {
  status: LineStatus | undefined;
  valid: boolean | undefined;
  afterId: string | null;
  limit: number;
};

type Stated = Pick<CheckBody, 'verdict' | 'name'>;
const statedIn = (body: Uint8Array | null): Stated | { verdict: null; name: null } =>
  body === null ? { verdict: null, name: null } : (JSON.parse(Buffer.from(body).toString('utf8')) as Stated);

/** A page of the lines of an account's batch in the order of the file (and of their ids); `null` when the account has no such batch. */
export const listLines =
  (db: Queryable) =>
  async (
    batchId: string,
    accountId: string,
    { status, valid, afterId, limit }: WantedLines,
  ): Promise<BatchLine[] | null> => {
    const withStatus = status === undefined ? Prisma.empty : Prisma.sql`AND l.status = ${status}`;
    const withResult = valid === undefined ? Prisma.empty : Prisma.sql`AND l.valid = ${valid}`;
    const after = afterId === null ? Prisma.empty : Prisma.sql`AND l.id > ${afterId}::uuid`;
    // With the outer join, a batch without such lines returns one row of nulls, and a missing batch returns no row.
    const rows = await query(db, LINE)`
      SELECT page.id, page.line, page.status, page.input, page.vat_number AS "vatNumber", page.reference,
        page.check_id AS "checkId", page.valid, c.body, page.error_code AS "errorCode",
        page.error_message AS "errorMessage"
      FROM batch b LEFT JOIN LATERAL (
        SELECT l.id, l.line, l.status, l.input, l.vat_number, l.reference, l.check_id, l.valid, l.error_code, l.error_message
        FROM batch_line l WHERE l.batch_id = b.id ${withStatus} ${withResult} ${after} ORDER BY l.id LIMIT ${limit}::int
      ) page ON true LEFT JOIN "check" c ON c.id = page.check_id
      WHERE b.id = ${batchId}::uuid AND b.account_id = ${accountId}::uuid ORDER BY page.id`;
    if (rows.length === 0) return null;
    return rows
      .filter(({ id }) => id !== null)
      .map(({ errorCode, errorMessage, body, ...line }) => {
        const { verdict, name } = statedIn(body);
        return { ...line, verdict, name, error: lineError({ errorCode, errorMessage }) };
      });
  };

/** A page of the lines of a batch after `afterId`, in the order of the file, each with its result. */
export const readResults =
  (db: Queryable) =>
  async (batchId: string, afterId: string | null, limit: number): Promise<ResultLine[]> => {
    const after = afterId === null ? Prisma.empty : Prisma.sql`AND l.id > ${afterId}::uuid`;
    const rows = await query(db, RESULT)`
      SELECT l.id, l.cells::text AS "cellsJson", l.vat_number AS "vatNumber", l.check_id AS "checkId", c.body,
        l.error_code AS "errorCode", l.error_message AS "errorMessage"
      FROM batch_line l
        LEFT JOIN LATERAL (
          SELECT body FROM "check" WHERE id = l.check_id AND id >= ${madeAfter(batchId)}::uuid LIMIT 1
        ) c ON true
      WHERE l.batch_id = ${batchId}::uuid ${after} ORDER BY l.id LIMIT ${limit}::int`;
    return rows.map(({ id, cellsJson, vatNumber, checkId, body, ...error }) => ({
      id,
      cellsJson,
      vatNumber,
      error: lineError(error),
      check: checkId !== null && body !== null ? { id: checkId, bytes: body } : null,
    }));
  };

/**
 * The start of a results file: the name of the uploaded file, its header row (`null` without one), the number of cells in its
 * widest row, and the number of lines.
 */
export type ResultsHead = { fileName: string | null; header: string[] | null; width: number; total: number };

export const RESULTS_HEAD = columns({
  fileName: 'text?',
  header: typed<string[] | null>('jsonb?'),
  width: 'int4',
  total: 'int4',
});

/** The start of the results file of an account's batch; `null` when the account has no such batch. */
export const findResultsHead =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<ResultsHead | null> => {
    const [row] = await query(db, RESULTS_HEAD)`
      SELECT b.file_name AS "fileName", b.header, b.total, GREATEST(jsonb_array_length(b.header), (
        SELECT max(jsonb_array_length(l.cells)) FROM batch_line l WHERE l.batch_id = b.id
      )) AS width
      FROM batch b WHERE b.id = ${id}::uuid AND b.account_id = ${accountId}::uuid`;
    return row ?? null;
  };
