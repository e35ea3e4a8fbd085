import { Prisma } from './generated/client.js';

/** Lower than every id. */
export const NIL = '00000000-0000-0000-0000-000000000000';
/** Higher than every id. */
export const MAX_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

export const DAY_MS = 86_400_000;
const MAX_MS = 0xffff_ffff_ffff;

/** The creation time of a UUIDv7, in milliseconds. Source: RFC 9562 §5.7. */
export const timeOfId = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

/** The lowest UUIDv7 of a point in time; ids created earlier are lower. */
export const idAt = (moment: Date): string => {
  const hex = Math.min(MAX_MS, Math.max(0, moment.getTime())).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
};

/**
 * How long after the time in a column the id of its row may have been made: rows of releases that made ids when they
 * recorded a row, and clocks that differ.
 */
const MAX_ID_DELAY_MS = 600_000;

/** The ids of rows whose time is in a period: from `from` on and below `to`. Null: no bound. */
export const idsOfPeriod = ({ from, to }: { from?: Date | null | undefined; to?: Date | null | undefined }) => ({
  from: from ? idAt(new Date(from.getTime() - MAX_ID_DELAY_MS)) : null,
  below: to ? idAt(new Date(to.getTime() + MAX_ID_DELAY_MS)) : null,
});

/** More than the clocks of two processes differ. */
const CLOCK_SKEW_MS = DAY_MS;
/** Most requests end within this time; a statement that looks no further has a second one for the others. */
const SOON_MS = 8 * DAY_MS;
/** What takes place is younger than this, unless the whole service was stopped for weeks. */
const RECENT_MS = 62 * DAY_MS;

const isTimeOrdered = (id: string): boolean => id[14] === '7';

/** The lowest id of the UTC month of a point in time, `months` later. */
export const monthId = (at: Date, months = 0): string =>
  idAt(new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, 1)));

/**
 * An id as a constant of a statement. Unlike a parameter it leaves out the partitions of other months when the statement is
 * prepared, so that its plan, which is then used for weeks, neither locks nor opens them: what it costs does not depend on the
 * number of months. Only the beginnings of months are used, since each text is prepared separately.
 */
const constant = (id: string): Prisma.Sql => Prisma.raw(`'${id}'`);

/** A range of ids, from the beginning of a month (inclusive) to that of another one (exclusive). */
type Months = { from: Prisma.Sql; to: Prisma.Sql };
const monthsBetween = (from: Date, to: Date): Months => ({
  from: constant(monthId(from)),
  to: constant(monthId(to, 1)),
});
const ALL_MONTHS: Months = { from: constant(NIL), to: constant(MAX_ID) };

const rangeOf = (ids: readonly string[]): { first: Date; last: Date } | null => {
  if (ids.length === 0 || !ids.every(isTimeOrdered)) return null;
  const times = ids.map((id) => timeOfId(id).getTime());
  return { first: new Date(Math.min(...times)), last: new Date(Math.max(...times)) };
};

/** The months of `ids`, if they are of at most two successive ones; otherwise there would be too many texts of a statement. */
export const monthsOf = (ids: readonly string[]): Months | null => {
  const range = rangeOf(ids);
  return range === null || monthId(range.first, 2) <= monthId(range.last)
    ? null
    : monthsBetween(range.first, range.last);
};

/** The months of a page of ids below `id`, or of the newest ones: that of its end and the one before. */
export const monthsBelow = (id: string | undefined, now: Date): { from: string; months: Months } => {
  const last = id === undefined ? now : timeOfId(id);
  const from = monthId(last, -1);
  return { from, months: { from: constant(from), to: constant(id === undefined ? MAX_ID : monthId(last, 1)) } };
};

/** Lower than every id that was made after `id`, by any process. {@link NIL} where `id` is not time-ordered. */
export const madeAfter = (id: string): Prisma.Sql =>
  constant(isTimeOrdered(id) ? monthId(new Date(timeOfId(id).getTime() - CLOCK_SKEW_MS)) : NIL);

/** A range of the ids that were made within days of `ids`, before or after. All ids, where some are not time-ordered. */
export const madeSoon = (ids: readonly string[]): Months => {
  const range = rangeOf(ids);
  return range === null
    ? ALL_MONTHS
    : monthsBetween(new Date(range.first.getTime() - SOON_MS), new Date(range.last.getTime() + SOON_MS));
};

/**
 * The lowest id that statements about the present read, where missing an older row is harmless: two months before `now`.
 * Without it they would read an index of each month that is stored.
 */
export const recentId = (now: Date): Prisma.Sql => constant(monthId(new Date(now.getTime() - RECENT_MS)));
