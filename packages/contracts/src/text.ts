import { ID_PREFIXES, type IdKind, type PublicId, stripUnsafeCharacters } from '@vat/domain';
import { z } from 'zod';

/** A number as it was written: {@link stripUnsafeCharacters}, and no U+0000 either, which Postgres keeps in no text. */
export const numberText = () =>
  z
    .string()
    .overwrite((text) => stripUnsafeCharacters(text).replaceAll('\0', ''))
    .min(1)
    .max(40);

/** Text that is not blank, without control characters of any kind, after {@link stripUnsafeCharacters}. */
export const printable = (max: number) =>
  z
    .string()
    .overwrite(stripUnsafeCharacters)
    .min(1)
    .max(max)
    // Blanks alone are nothing to be found or recognised by.
    .refine((text) => text === '' || /\S/.test(text), { abort: true, error: 'must not be empty' })
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, 'must not contain control characters');

/** A moment on the wire: RFC 3339, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });

/** A public id of one kind. */
export const idOf = <Kind extends IdKind>(kind: Kind) =>
  z.string().regex(new RegExp(`^${ID_PREFIXES[kind]}_[0-7][0-9a-hjkmnp-tv-z]{25}$`)) as unknown as z.ZodType<
    PublicId<Kind>,
    PublicId<Kind>
  >;

/** The body of a POST that needs none, where one is sent: there is nothing to say. */
export const emptyBody = z.strictObject({});
