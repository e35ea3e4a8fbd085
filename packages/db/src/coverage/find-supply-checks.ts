import type { CoverageCheck, EvidenceGrade, FindSupplyChecks } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { all, columns, query, typed } from '../query.js';
import { idsOfPeriod } from '../uuid-bounds.js';

const FOUND = columns({
  n: 'int4',
  ...all('uuid?', 'lastId', 'strongId'),
  ...all('timestamptz?', 'lastAt', 'strongAt'),
  lastValid: 'bool?',
  lastGrade: typed<EvidenceGrade | null>('text?'),
  strongGrade: typed<EvidenceGrade | null>('text?'),
});

/**
 * The grade in the hashed bytes. A valid check of a release without grades is `basic`: it shows that VIES said valid, and
 * nothing else is read into it.
 */
const gradeOf = (check: Prisma.Sql): Prisma.Sql => Prisma.sql`
  CASE WHEN NOT ${check}.valid THEN 'none'
    ELSE COALESCE(convert_from(${check}.body, 'UTF8')::json ->> 'evidence_grade', 'basic') END`;

/** The last check of a supply `s` with one result. An index has checks of a number in this order. */
const lastWith = (accountId: string, valid: boolean): Prisma.Sql => Prisma.sql`
  (SELECT c.id, c.valid, c.checked_at, c.body FROM "check" c
   WHERE c.account_id = ${accountId}::uuid AND c.vat_number = s.vat_number AND NOT c.test AND c.valid = ${valid}
     AND c.id < s.below_id AND c.checked_at < s.before
   ORDER BY c.id DESC LIMIT 1)`;

const checkOf = (id: string | null, at: Date | null, grade: EvidenceGrade | null): CoverageCheck | null =>
  id === null || at === null || grade === null ? null : { id, checkedAt: at, grade };

/** The latest checks in time of a wanted grade are found for all supplies of a number together: each of its checks is read once. */
const strongOf = (accountId: string, grades: readonly EvidenceGrade[]): Prisma.Sql => Prisma.sql`
  weak AS MATERIALIZED (
    SELECT n, vat_number, "from", from_id, id FROM last
    WHERE valid AND checked_at >= "from" AND grade <> ALL(${[...grades]}::text[])
  ), strong AS MATERIALIZED (
    SELECT w.vat_number, g.id, g.checked_at, g.grade FROM (
      SELECT vat_number, min("from") AS "from", min(from_id::text)::uuid AS from_id, max(id::text)::uuid AS last_id
      FROM weak GROUP BY vat_number
    ) w CROSS JOIN LATERAL (
      SELECT c.id, c.checked_at, ${gradeOf(Prisma.sql`c`)} AS grade FROM "check" c
      WHERE c.account_id = ${accountId}::uuid AND c.vat_number = w.vat_number AND NOT c.test AND c.valid
        AND c.id >= w.from_id AND c.id < w.last_id AND c.checked_at >= w."from"
      OFFSET 0
    ) g WHERE g.grade = ANY(${[...grades]}::text[])
  ), latest AS (
    -- Ids are time-ordered: of the strong checks before a weak one the highest is the latest.
    SELECT n, max(strong_id) OVER (PARTITION BY vat_number ORDER BY id) AS id FROM (
      SELECT n, vat_number, id, NULL AS strong_id FROM weak
      UNION ALL SELECT NULL, vat_number, id, id::text COLLATE "C" FROM strong
    ) AS both_kinds
  )`;

/**
 * Finds the checks that decide supplies, in one statement: for each the last check until its date, and where that one is valid,
 * in time and of another grade than the wanted ones, the latest in time of a wanted grade. Bounded by the ids as well, since
 * indexes and partitions are ordered by them.
 */
export const findSupplyChecks =
  (db: Queryable): FindSupplyChecks =>
  async (accountId, supplies, grades) => {
    const wanted = JSON.stringify(
      supplies.map(({ vatNumber, from, before }, n) => {
        const ids = idsOfPeriod({ from, to: before });
        return { n, vat_number: vatNumber, from, before, from_id: ids.from, below_id: ids.below };
      }),
    );
    const rows = await query(db, FOUND)`
      WITH last AS MATERIALIZED (
        SELECT s.n, s.vat_number, s."from", s.from_id, x.id, x.valid, x.checked_at, x.grade
        FROM jsonb_to_recordset(${wanted}::jsonb) AS s(n int, vat_number text, "from" timestamptz, before timestamptz,
          from_id uuid, below_id uuid)
        LEFT JOIN LATERAL (
          SELECT x.id, x.valid, x.checked_at, ${gradeOf(Prisma.sql`x`)} AS grade
          FROM (${lastWith(accountId, true)} UNION ALL ${lastWith(accountId, false)} ORDER BY id DESC LIMIT 1) x
        ) x ON true
      ), ${strongOf(accountId, grades)}
      SELECT last.n, last.id AS "lastId", last.valid AS "lastValid", last.checked_at AS "lastAt", last.grade AS "lastGrade",
        strong.id AS "strongId", strong.checked_at AS "strongAt", strong.grade AS "strongGrade"
      FROM last LEFT JOIN latest ON latest.n = last.n
        LEFT JOIN strong ON strong.id = latest.id::uuid AND strong.checked_at >= last."from"
      ORDER BY last.n`;
    return rows.map(({ lastId, lastAt, lastGrade, lastValid, strongId, strongAt, strongGrade }) => {
      const last = checkOf(lastId, lastAt, lastGrade);
      return {
        last: last && { ...last, valid: lastValid === true },
        strong: checkOf(strongId, strongAt, strongGrade),
      };
    });
  };
