/** Lower than every id. */
export const NIL = '00000000-0000-0000-0000-000000000000';

/** The creation time of a UUIDv7, in milliseconds. Source: RFC 9562 §5.7. */
export const timeOfId = (id: string): Date => new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));

/** The lowest UUIDv7 of a point in time; ids created earlier are lower. */
export const idAt = (moment: Date): string => {
  const hex = Math.max(0, moment.getTime()).toString(16).padStart(12, '0');
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
