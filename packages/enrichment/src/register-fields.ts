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

/** The list; empty when the register omits it or has given it another type. */
export const lenientList = <Schema extends z.ZodType>(item: Schema) => z.array(item).catch([]).default([]);

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
