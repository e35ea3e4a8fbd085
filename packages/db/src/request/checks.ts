import type { Reader, StoredCheck, Verdict } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { columns, isOneOf, query } from '../query.js';
import { pageConditions, readNewest } from '../read-newest.js';

const STORED = columns({ id: 'uuid', bytes: 'bytea', hash: 'bytea' });

/** One check; `null` when there is none that `reader` may read. */
export const findCheck =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<StoredCheck | null> => {
    const [row] = await query(db, STORED)`
      SELECT id, body AS bytes, hash FROM "check"
      WHERE ${isOneOf(Prisma.sql`id`, [id])} AND account_id = ${accountId}::uuid AND (test OR NOT ${testOnly}::boolean)`;
    return row ?? null;
  };

/** One check of any account, for a reader who has its public link; `null` when there is none. */
export const findCheckOfAnyAccount =
  (db: Queryable) =>
  async (id: string): Promise<StoredCheck | null> => {
    const [row] = await query(db, STORED)`
      SELECT id, body AS bytes, hash FROM "check" WHERE ${isOneOf(Prisma.sql`id`, [id])}`;
    return row ?? null;
  };

export type CheckFilter = {
  vatNumber?: string | undefined;
  valid?: boolean | undefined;
  /** Inclusive. */
  from?: Date | undefined;
  /** Exclusive. */
  to?: Date | undefined;
  reference?: string | undefined;
};

/** Both values of a boolean column, or the one that is wanted. */
const either = (wanted: boolean | undefined): boolean[] => (wanted === undefined ? [true, false] : [wanted]);

/**
 * Checks that `reader` may read before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor and bounds
 * the period. With a filter, each combination of mode and verdict is one scan of an index that is in the order of ids, limited
 * to the size of the page, so that rows which do not match are not read, except other references of a number. The months
 * before the two of the page are read only if these have too few checks.
 */
export const listChecks =
  (db: Queryable, now: () => Date = () => new Date()) =>
  async (reader: Reader, filter: CheckFilter, beforeId: string | null, limit: number): Promise<StoredCheck[]> => {
    const { vatNumber, valid, reference } = filter;
    // A number has fewer checks than a reference. IS NOT DISTINCT FROM does not use the index of references.
    const matches = (value: string) =>
      vatNumber === undefined ? Prisma.sql`reference = ${value}` : Prisma.sql`reference IS NOT DISTINCT FROM ${value}`;
    const page = { beforeId, period: filter, limit, now: now() };
    const conditions = [
      Prisma.sql`account_id = ${reader.accountId}::uuid`,
      ...pageConditions(Prisma.sql`checked_at`, page),
      ...(vatNumber === undefined ? [] : [Prisma.sql`vat_number = ${vatNumber}`]),
      ...(reference === undefined ? [] : [matches(reference)]),
    ];
    const filtered = valid !== undefined || vatNumber !== undefined || reference !== undefined;
    const kinds = filtered
      ? either(reader.testOnly ? true : undefined).flatMap((test) =>
          either(valid).map((verdict) => [Prisma.sql`test = ${test}`, Prisma.sql`valid = ${verdict}`]),
        )
      : // A literal and not a parameter: the partial index of test checks is used only when the condition is in the statement.
        [reader.testOnly ? [Prisma.sql`test`] : []];
    const read = (range: Prisma.Sql, most: number) => {
      const pages = kinds.map(
        (kind) => Prisma.sql`
          (SELECT id, body, hash FROM "check" WHERE ${Prisma.join([...conditions, ...kind, range], ' AND ')}
           ORDER BY id DESC LIMIT ${most}::int)`,
      );
      return query(db, STORED)`
        SELECT id, body AS bytes, hash FROM (${Prisma.join(pages, ' UNION ALL ')}) AS found
        ORDER BY id DESC LIMIT ${most}::int`;
    };
    return readNewest(page, read);
  };

/** The UTC day of a point in time, as a Postgres date. */
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/**
 * The CTE `counted`: increments the count of checks of the account and day. `recorded`: a query of (account_id, test) of the
 * recorded check, which may return no row. Test checks are not counted.
 */
export const countCheck = (verdict: Verdict, checkedAt: Date, recorded: Prisma.Sql): Prisma.Sql => {
  const one = (counted: Verdict) => (counted === verdict ? 1 : 0);
  return Prisma.sql`
    counted AS (
      INSERT INTO check_day AS d (account_id, day, valid, invalid, malformed)
      SELECT r.account_id, ${dayOf(checkedAt)}::date, ${one('valid')}::int, ${one('invalid')}::int, ${one('malformed')}::int
      FROM (${recorded}) AS r(account_id, test) WHERE NOT r.test
      ON CONFLICT (account_id, day) DO UPDATE SET valid = d.valid + EXCLUDED.valid,
        invalid = d.invalid + EXCLUDED.invalid, malformed = d.malformed + EXCLUDED.malformed
    )`;
};
