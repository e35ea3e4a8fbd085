import { z } from 'zod';

/**
 * Text from a register: a string or number as trimmed text; null for anything else, so that one field with a new type
 * does not make the whole answer unreadable.
 */
export const lenientText = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).trim() || null)
  .nullable()
  .catch(null)
  .default(null);

/** The value; null when the register omits it or has given it another type. */
export const optional = <Schema extends z.ZodType>(schema: Schema) => schema.nullable().catch(null).default(null);

const present = <Item>(items: readonly (Item | null)[]): Item[] => items.filter((item): item is Item => item !== null);

/** The readable elements of a list; empty when the register omits it or has given it another type. */
export const lenientList = <Schema extends z.ZodType>(item: Schema) =>
  z
    .array(item.nullable().catch(null))
    .transform((items) => present<z.output<Schema>>(items))
    .catch([])
    .default([]);

/**
 * A list that decides whether the source agrees: null unless all of it was read, since an unreadable element may be the one
 * that counts. An element that is null says nothing and is left out; a list of nothing else is not an empty one.
 */
export const wholeList = <Schema extends z.ZodType>(item: Schema) =>
  optional(
    z
      .array(item.nullable())
      .transform((items) =>
        items.length > 0 && present(items).length === 0 ? null : present<z.output<Schema>>(items),
      ),
  );

/**
 * The day on which something ended; null while it lasts. An end to come has not come: `today` is YYYY-MM-DD, and a date of
 * any other form counts as past.
 */
export const pastEnd = (end: string | null, today: string): string | null =>
  end !== null && /^\d{4}-\d{2}-\d{2}/.test(end) && end.slice(0, 10) > today ? null : end;

/** Reads JSON of one shape with `read`; null for JSON of any other shape. */
export const readAs =
  <Schema extends z.ZodType, Rest extends unknown[], Result>(
    schema: Schema,
    read: (data: z.output<Schema>, ...rest: Rest) => Result,
  ) =>
  (json: unknown, ...rest: Rest): Result | null => {
    const { success, data } = schema.safeParse(json);
    return success ? read(data, ...rest) : null;
  };

/** The calendar day (YYYY-MM-DD) of `at` in an IANA time zone; registers expect their local day, not UTC's. */
export const localDate = (at: Date, timeZone: string): string => {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  const of = Object.fromEntries(parts.formatToParts(at).map(({ type, value }) => [type, value]));
  return `${of.year}-${of.month}-${of.day}`;
};
