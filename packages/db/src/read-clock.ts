import type { Queryable } from './connect-database.js';
import { query } from './query.js';

/** The time of Postgres's clock, which all processes share. */
export const readClock = (db: Queryable) => async (): Promise<Date> => {
  const [row] = await query(db, { at: 'timestamptz' })`SELECT clock_timestamp() AS at`;
  if (!row) throw new Error('Postgres returned no time');
  return row.at;
};
