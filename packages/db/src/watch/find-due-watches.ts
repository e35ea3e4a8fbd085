import type { DueWatch } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/**
 * Due watches, the longest due first, of each member state as many as may be under way beside those that are. Each member
 * state is looked up by itself in an index of what can be due, so that this costs the same however many watches there are,
 * and however many of one member state wait for an outage to end.
 */
export const findDueWatches =
  (db: Queryable) =>
  (memberStates: readonly string[]) =>
  async (now: Date, mostUnderWay: number): Promise<DueWatch[]> =>
    db.$queryRaw<DueWatch[]>`
      SELECT w.id, w.country_code AS "memberState", w.vat_number AS "vatNumber", w.frequency, a.plan,
        a.monthly_quota AS "monthlyQuota"
      FROM unnest(${memberStates as string[]}::text[]) AS s(code)
      CROSS JOIN LATERAL (
        SELECT count(*) AS n FROM request r
        WHERE r.origin = 'watch' AND r.country_code = s.code AND r.state = 'pending' AND r.fed
      ) AS open
      CROSS JOIN LATERAL (
        SELECT d.id, d.account_id, d.country_code, d.vat_number, d.frequency, d.next_check_at FROM watch d
        WHERE d.country_code = s.code AND d.state = 'active' AND d.request_id IS NULL
          AND d.next_check_at <= ${now}::timestamptz
        ORDER BY d.next_check_at, d.id LIMIT GREATEST(0, ${mostUnderWay}::int - open.n)
      ) AS w
      JOIN account a ON a.id = w.account_id
      ORDER BY w.next_check_at, w.id`;
