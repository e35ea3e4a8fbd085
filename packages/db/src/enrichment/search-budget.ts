import type { SearchBudget, SearchPermit } from '@vat/domain';
import type { Queryable } from '../connect-database.js';
import { query } from '../query.js';

/**
 * Counts the searches of a source per day, for all workers in one row. The day never changes to an earlier one, so that a
 * process whose clock is behind at midnight cannot reset the count.
 */
export const searchBudget = (db: Queryable): SearchBudget => ({
  take: async (source, day, limit): Promise<SearchPermit> => {
    if (limit < 1) return 'exhausted';
    const taken = await db.$executeRaw`
      INSERT INTO source_search AS s (source, day, used) VALUES (${source}, ${day}::date, 1)
      ON CONFLICT (source) DO UPDATE SET day = excluded.day,
        used = CASE WHEN s.day = excluded.day THEN s.used + 1 ELSE 1 END, blocked = false
      WHERE s.day < excluded.day OR (s.day = excluded.day AND s.used < ${limit}::int AND NOT s.blocked)`;
    if (taken > 0) return 'taken';
    const rows = await query(db, { blocked: 'bool' })`SELECT blocked FROM source_search WHERE source = ${source}`;
    return rows[0]?.blocked ? 'blocked' : 'exhausted';
  },
  block: async (source, day) => {
    await db.$executeRaw`
      INSERT INTO source_search AS s (source, day, used, blocked) VALUES (${source}, ${day}::date, 0, true)
      ON CONFLICT (source) DO UPDATE SET day = excluded.day, blocked = true,
        used = CASE WHEN s.day = excluded.day THEN s.used ELSE 0 END
      WHERE s.day <= excluded.day`;
  },
});
