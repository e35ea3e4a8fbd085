import type { SearchBudget, SearchPermit } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { query } from '../query.js';

/** The days for which an account keeps a share for its next searches: those of a Friday count on the Monday after it. */
const DAYS_REMEMBERED = 3;

/**
 * Counts the searches of a source per day, for all workers in one row, and per account. The day never changes to an earlier one,
 * so that a process whose clock is behind at midnight cannot reset the count. The limit is exact. What is kept for others is not
 * when they begin at the same moment, because statements that run at once do not see each other's rows.
 */
export const searchBudget = (db: Queryable): SearchBudget => ({
  take: async ({ source, day, limit, accountId }): Promise<SearchPermit> => {
    if (limit < 1) return 'exhausted';
    // The row of the source is locked before that of the account, always.
    const [permit] = await query(db, { taken: 'bool', blocked: 'bool?' })`
      WITH recent AS (
        SELECT account_id = ${accountId}::uuid AS own,
          CASE WHEN day = ${day}::date THEN greatest(requested, requested_before) ELSE requested END AS requested,
          CASE WHEN day = ${day}::date THEN used ELSE 0 END AS used
        FROM account_search WHERE source = ${source} AND day >= ${day}::date - ${DAYS_REMEMBERED}::int
      ), share AS (
        SELECT greatest(1, ${limit}::int / (1 + count(*) FILTER (WHERE own IS NOT TRUE)))::int AS searches FROM recent
      ), kept AS (
        -- For the other accounts. Nothing while this account is within its own share.
        SELECT coalesce(sum(greatest(0, least(share.searches, requested) - used)), 0)::int AS searches
        FROM recent, share WHERE own IS NOT TRUE
          AND coalesce((SELECT used FROM recent WHERE own), 0) >= share.searches
      ), taken AS (
        INSERT INTO source_search AS s (source, day, used) VALUES (${source}, ${day}::date, 1)
        ON CONFLICT (source) DO UPDATE SET day = excluded.day,
          used = CASE WHEN s.day = excluded.day THEN s.used + 1 ELSE 1 END, blocked = false
        WHERE s.day < excluded.day OR (
          s.day = excluded.day AND s.used < ${limit}::int - (SELECT searches FROM kept) AND NOT s.blocked)
        RETURNING 1
      ), counted AS (
        INSERT INTO account_search AS a (source, account_id, day, requested, used)
        SELECT ${source}, ${accountId}::uuid, ${day}::date, 1, (SELECT count(*)::int FROM taken)
        WHERE ${accountId}::uuid IS NOT NULL
        ON CONFLICT (source, account_id) DO UPDATE SET day = excluded.day,
          requested = CASE WHEN a.day = excluded.day THEN a.requested ELSE 0 END + 1,
          used = CASE WHEN a.day = excluded.day THEN a.used ELSE 0 END + excluded.used,
          requested_before = CASE WHEN a.day = excluded.day THEN a.requested_before ELSE a.requested END
        WHERE a.day <= excluded.day
      )
      SELECT EXISTS (SELECT FROM taken) AS taken,
        (SELECT blocked FROM source_search WHERE source = ${source} AND day = ${day}::date) AS blocked`;
    if (permit?.taken) return 'taken';
    return permit?.blocked ? 'blocked' : 'exhausted';
  },
  block: async (source, day) => {
    await db.$executeRaw`
      INSERT INTO source_search AS s (source, day, used, blocked) VALUES (${source}, ${day}::date, 0, true)
      ON CONFLICT (source) DO UPDATE SET day = excluded.day, blocked = true,
        used = CASE WHEN s.day = excluded.day THEN s.used ELSE 0 END
      WHERE s.day <= excluded.day`;
  },
});
