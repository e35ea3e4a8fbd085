import type { RunWatchDeps } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

type Found = Awaited<ReturnType<RunWatchDeps['findOrFollow']>>;

/** A watch as it is; one whose run is under way is made due, so that another run follows. `null` when there is none. */
export const findOrFollowWatch =
  (db: Queryable): RunWatchDeps['findOrFollow'] =>
  async (id, now) => {
    const [row] = await db.$queryRaw<NonNullable<Found>[]>`
      UPDATE watch w SET next_check_at = CASE WHEN w.request_id IS NULL THEN w.next_check_at
        ELSE LEAST(w.next_check_at, ${now}::timestamptz) END
      FROM account a WHERE w.id = ${id}::uuid AND a.id = w.account_id
      RETURNING w.id, w.country_code AS "memberState", w.vat_number AS "vatNumber", w.frequency, a.plan,
        a.monthly_quota AS "monthlyQuota", w.state, w.request_id AS "requestId"`;
    return row ?? null;
  };
