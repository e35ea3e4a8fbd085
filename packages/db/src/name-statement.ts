import { createHash } from 'node:crypto';

/** The maximum number of named statements per process; further ones have no name and are planned on each run. */
const MAX_NAMED = 500;
/** A statement that has not run for this long loses its name when another one needs it. */
const UNUSED_MS = 24 * 3_600_000;
/** The maximum number of texts whose runs are counted; a caller who reads the ids of all months makes many. */
const MAX_COUNTED = 2_000;
/** A statement gets its name at this many runs within a minute. */
const FREQUENT = 10;
const MINUTE_MS = 60_000;
/** `SELECT *`: once a migration adds a column, such a named statement fails on every open connection. */
const OPEN_COLUMN_LIST = /\.\*|\bselect\s+\*/i;
/** The beginning of a month as a constant of a statement, see `uuid-bounds.ts`. */
const MONTH = /'([0-9a-f]{8})-([0-9a-f]{4})-7000-8000-0{12}'/g;
const DAY_MS = 86_400_000;
/** The months that statements about the present name, and those of the last year. */
const NEAR = { pastMs: 400 * DAY_MS, aheadMs: 100 * DAY_MS };

/** Whether all months of a text are near: callers choose the ids that they read, and can make up those of any month. */
const isOfNearMonths = (sql: string, time: number): boolean =>
  [...sql.matchAll(MONTH)].every(([, high = '', low = '']) => {
    const month = Number.parseInt(high + low, 16);
    return month > time - NEAR.pastMs && month < time + NEAR.aheadMs;
  });

/**
 * Names frequent statements, so that Postgres parses and plans them once per connection: that halves the cost of the
 * statements of a lookup. Each named statement occupies some 40 kB in every connection that ran it, until the connection
 * ends, so a statement that runs rarely has none. The number is limited, since a statement whose text varies (a list of
 * values) would otherwise fill the memory of every connection. Statements name the months that they read, so a process that
 * runs for months needs names for the texts of the new month: they get those of texts that are no longer used. A statement gets the
 * same name again after it lost it. A text with a month that is far from now has none: otherwise a caller who reads made-up ids
 * could use all names up, and those of the next month would have none. `undefined`: no name. `now`: milliseconds, by a monotonic
 * clock. `time`: milliseconds since 1970.
 */
export const nameStatement = (
  now: () => number,
  time: () => number = Date.now,
): ((statement: { sql: string }) => string | undefined) => {
  const names = new Map<string, { name: string; usedAt: number }>();
  /** Runs of unnamed statements in the current minute. */
  const runs = new Map<string, number>();
  let minute = now();
  /** Whether there is room for one more name. */
  const makeRoom = (at: number): boolean => {
    if (names.size < MAX_NAMED) return true;
    for (const [sql, { usedAt }] of names) if (at - usedAt > UNUSED_MS) names.delete(sql);
    return names.size < MAX_NAMED;
  };
  return ({ sql }) => {
    const at = now();
    const known = names.get(sql);
    if (known !== undefined) {
      known.usedAt = at;
      return known.name;
    }
    if (at - minute >= MINUTE_MS || runs.size >= MAX_COUNTED) {
      runs.clear();
      minute = at;
    }
    const count = (runs.get(sql) ?? 0) + 1;
    if (count < FREQUENT || OPEN_COLUMN_LIST.test(sql)) {
      runs.set(sql, count);
      return undefined;
    }
    runs.delete(sql);
    if (!isOfNearMonths(sql, time()) || !makeRoom(at)) return undefined;
    const name = `vat_${createHash('sha256').update(sql).digest('hex').slice(0, 24)}`;
    names.set(sql, { name, usedAt: at });
    return name;
  };
};
