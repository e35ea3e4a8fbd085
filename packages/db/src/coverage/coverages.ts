import type { Coverage, MinGrade } from '@vat/domain';
import { RESULTS_HEAD, type ResultsHead } from '../batch/batch-lines.js';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { inChunks } from '../in-chunks.js';
import { all, columns, query, typed } from '../query.js';
import { idAt } from '../uuid-bounds.js';

const COVERAGE = columns({
  id: 'uuid',
  ...all('text?', 'label', 'fileName'),
  ...all('int4', 'maxAgeDays', 'total', 'covered', 'stale', 'weak', 'invalid', 'missing'),
  minGrade: typed<MinGrade>('text'),
  batchId: 'uuid?',
  createdAt: 'timestamptz',
});

/** Selects coverages `c`. The batch of the gaps is null once it is deleted. */
const selectCoverages = Prisma.sql`
  SELECT c.id, c.label, c.file_name AS "fileName", c.max_age_days AS "maxAgeDays", c.min_grade AS "minGrade", c.total,
    c.covered, c.stale, c.weak, c.invalid, c.missing, (SELECT b.id FROM batch b WHERE b.id = c.batch_id) AS "batchId",
    c.created_at AS "createdAt"
  FROM coverage c`;

/** One coverage of an account; `null` when the account has no such coverage. */
export const findCoverage =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<Coverage | null> => {
    const [row] = await query(db, COVERAGE)`
      ${selectCoverages} WHERE c.id = ${id}::uuid AND c.account_id = ${accountId}::uuid`;
    return row ?? null;
  };

/** Coverages of an account before `beforeId`, newest first. */
export const listCoverages =
  (db: Queryable) =>
  async (accountId: string, beforeId: string | null, limit: number): Promise<Coverage[]> => {
    const before = beforeId === null ? Prisma.empty : Prisma.sql`AND c.id < ${beforeId}::uuid`;
    return query(db, COVERAGE)`
      ${selectCoverages} WHERE c.account_id = ${accountId}::uuid ${before} ORDER BY c.id DESC LIMIT ${limit}::int`;
  };

/** The start of the results file of an account's coverage; `null` when the account has no such coverage. */
export const findCoverageHead =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<ResultsHead | null> => {
    const [row] = await query(db, RESULTS_HEAD)`
      SELECT c.file_name AS "fileName", c.header, c.width, c.total
      FROM coverage c WHERE c.id = ${id}::uuid AND c.account_id = ${accountId}::uuid`;
    return row ?? null;
  };

/** Deletes a coverage of an account with its lines, but neither its checks nor its batch. Whether there was one. */
export const deleteCoverage =
  (db: Queryable) =>
  async (id: string, accountId: string): Promise<boolean> =>
    (await db.$executeRaw`
      DELETE FROM coverage WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid`) > 0;

/** Coverages per statement; each has up to ten thousand lines, which are deleted with it. */
const CHUNK = 5;

/** Deletes coverages that were made before a point in time with their lines, in chunks; returns their number. */
export const deleteOldCoverages =
  (db: Queryable) =>
  async (before: Date): Promise<number> =>
    inChunks(
      CHUNK,
      () => db.$executeRaw`
        DELETE FROM coverage WHERE id = ANY(ARRAY(
          SELECT id FROM coverage WHERE id < ${idAt(before)}::uuid ORDER BY id LIMIT ${CHUNK}::int))`,
    );
