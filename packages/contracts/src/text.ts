import { ID_PREFIXES, type IdKind, type PublicId, stripUnsafeCharacters } from '@vat/domain';
import { z } from 'zod';

/** A VAT number as a caller wrote it, after {@link stripUnsafeCharacters} and without U+0000, which Postgres cannot store. */
export const numberText = () =>
  z
    .string()
    .overwrite((text) => stripUnsafeCharacters(text).replaceAll('\0', ''))
    .min(1)
    .max(40);

/** Text that is not blank and has no control characters, after {@link stripUnsafeCharacters}. */
export const printable = (max: number) =>
  z
    .string()
    .overwrite(stripUnsafeCharacters)
    .min(1)
    .max(max)
    // A text of blanks only could not be found or recognised.
    .refine((text) => text === '' || /\S/.test(text), { abort: true, error: 'must not be empty' })
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must not contain control characters');

/** The fields of a body that name the VAT number to check. */
export const numberFields = {
  vat_number: numberText().describe('The VAT number in any notation, with or without its country prefix.'),
  country_code: z
    .string()
    .overwrite(stripUnsafeCharacters)
    .max(10, 'must be two letters, such as DE')
    .optional()
    .describe('Two letters. Required when the number has no country prefix. GR and EL both mean Greece.'),
};

/** A requester. It has no length limit: any text that is not a VAT number is INVALID_REQUESTER and not BAD_REQUEST. */
export const requesterText = () => z.string().overwrite(stripUnsafeCharacters).optional();

/** A time in responses: RFC 3339, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });

/** A whole number of at most three digits in a query or form. */
export const wholeNumberText = (range: { min: number; max: number; default: number }, description?: string) =>
  z
    .string()
    .regex(/^\d{1,3}$/, `must be a whole number from ${range.min} to ${range.max}`)
    .transform(Number)
    .pipe(z.number().min(range.min).max(range.max))
    .default(range.default)
    .meta({
      openapi: { type: 'integer', minimum: range.min, maximum: range.max, default: range.default, description },
    });

/** `true` or `false` in a query or form; false by default. */
export const booleanText = (description?: string) =>
  z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .meta({ openapi: { type: 'boolean', default: false, description } });

/** A number of things. */
export const count = (what: string) => z.int().min(0).describe(what);

/** A public id of one kind. */
export const idOf = <Kind extends IdKind>(kind: Kind) =>
  z.string().regex(new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)) as unknown as z.ZodType<
    PublicId<Kind>,
    PublicId<Kind>
  >;

/** The only body that a POST without parameters accepts. */
export const emptyBody = z.strictObject({});
