import type { Verdict } from '@vat/domain';
import { Prisma } from '../generated/client.js';

/** The day of a moment in UTC, as Postgres reads a date. */
const dayOf = (at: Date): string => at.toISOString().slice(0, 10);

/**
 * The CTE `counted`: one more check of its account's day. `recorded`: a query of (account_id, test) of the check that the
 * statement records, or of none. Test checks are not counted.
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
