import { type FeedLane, REFILL_AT } from '@vat/domain';
import type { Queryable } from '../connect-database.js';

/** Those of `lanes` in which lines wait and whose window is running low. One statement, whose cost is that of a few index entries a lane. */
export const lanesToFeed =
  (db: Queryable) =>
  async (lanes: readonly FeedLane[]): Promise<FeedLane[]> => {
    const rows = await db.$queryRaw<{ lane: FeedLane }[]>`
      SELECT lane FROM unnest(${[...lanes]}::text[]) AS l(lane)
      WHERE CASE WHEN lane = 'malformed'
        THEN EXISTS (SELECT 1 FROM request WHERE state = 'pending' AND NOT fed AND answer IS NOT NULL)
        ELSE EXISTS (
          SELECT 1 FROM request WHERE country_code = lane AND state = 'pending' AND NOT fed AND answer IS NULL
        ) AND ${REFILL_AT}::int >= (
          SELECT count(*) FROM request
          WHERE origin = 'batch' AND country_code = lane AND state = 'pending' AND fed AND answer IS NULL
        ) END`;
    return rows.map((row) => row.lane);
  };
