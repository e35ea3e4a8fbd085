import { type FeedLane, REFILL_AT } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/**
 * Those of `lanes` in which lines wait and whose window is running low. It reads a few index entries a lane: scalar subqueries,
 * since Postgres would collect all that waits into a hash table for an EXISTS here.
 */
export const lanesToFeed =
  (db: Queryable) =>
  async (lanes: readonly FeedLane[]): Promise<FeedLane[]> => {
    const rows = await db.$queryRaw<{ lane: FeedLane }[]>`
      SELECT lane FROM unnest(${[...lanes]}::text[]) AS l(lane)
      WHERE CASE WHEN lane = 'malformed'
        THEN (SELECT true FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL LIMIT 1)
        ELSE (
          SELECT true FROM request WHERE country_code = lane AND state = 'pending' AND NOT fed AND answer IS NULL LIMIT 1
        ) AND ${REFILL_AT}::int >= (
          SELECT count(*) FROM request
          WHERE origin = 'batch' AND country_code = lane AND state = 'pending' AND fed AND answer IS NULL
        ) END`;
    return rows.map((row) => row.lane);
  };
