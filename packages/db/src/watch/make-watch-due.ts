import type { DueWatch, Watch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Makes an active watch due now, and returns it as it is; `null` when there is none. */
export const makeWatchDue =
  (db: Queryable) =>
  async (id: string, now: Date): Promise<(DueWatch & Pick<Watch, 'state' | 'requestId'>) | null> => {
    const [row] = await db.$queryRaw<(DueWatch & Pick<Watch, 'state' | 'requestId'>)[]>`
      UPDATE watch w SET next_check_at = CASE w.state WHEN 'active' THEN LEAST(w.next_check_at, ${now}::timestamptz)
        ELSE w.next_check_at END
      FROM account a WHERE w.id = ${id}::uuid AND a.id = w.account_id
      RETURNING w.id, w.country_code AS "memberState", w.vat_number AS "vatNumber", w.frequency, a.plan,
        a.monthly_quota AS "monthlyQuota", w.state, w.request_id AS "requestId"`;
    return row ?? null;
  };
