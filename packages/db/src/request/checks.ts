import type { Reader, StoredCheck, Verdict } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { Prisma } from '../generated/client.js';
import { columns, query } from '../query.js';

const STORED = columns({ id: 'uuid', bytes: 'bytea', hash: 'bytea' });

/** One check; `null` when there is none that `reader` may read. */
export const findCheck =
  (db: Queryable) =>
  async (id: string, { accountId, testOnly }: Reader): Promise<StoredCheck | null> => {
    const [row] = await query(db, STORED)`
      SELECT id, body AS bytes, hash FROM "check"
      WHERE id = ${id}::uuid AND account_id = ${accountId}::uuid AND (test OR NOT ${testOnly}::boolean)`;
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

/** Checks that `reader` may read before `beforeId`, newest first. Ids are time-ordered, so the id suffices as cursor. */
export const listChecks =
  (db: Queryable) =>
  async (reader: Reader, filter: CheckFilter, beforeId: string | null, limit: number): Promise<StoredCheck[]> => {
    const conditions = [
      Prisma.sql`account_id = ${reader.accountId}::uuid`,
      // A literal and not a parameter: the partial index of test checks is used only when the condition is in the statement.
      ...(reader.testOnly ? [Prisma.sql`test`] : []),
      ...(beforeId ? [Prisma.sql`id < ${beforeId}::uuid`] : []),
      ...(filter.vatNumber === undefined ? [] : [Prisma.sql`vat_number = ${filter.vatNumber}`]),
      ...(filter.valid === undefined ? [] : [Prisma.sql`valid = ${filter.valid}`]),
      ...(filter.from ? [Prisma.sql`checked_at >= ${filter.from}::timestamptz`] : []),
      ...(filter.to ? [Prisma.sql`checked_at < ${filter.to}::timestamptz`] : []),
      ...(filter.reference === undefined ? [] : [Prisma.sql`reference = ${filter.reference}`]),
    ];
    return query(db, STORED)`
      SELECT id, body AS bytes, hash FROM "check" WHERE ${Prisma.join(conditions, ' AND ')}
      ORDER BY id DESC LIMIT ${limit}::int`;
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
