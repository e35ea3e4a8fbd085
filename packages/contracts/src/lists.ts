import { DOCUMENT_LANGUAGES } from '@vat/domain';
import { z } from 'zod';
import { idOf, numberText, printable, wholeNumberText } from './text.js';

/** Page sizes of every list. */
const LIST_LIMIT = { min: 1, max: 100, default: 20 } as const;

/** The paging parameters of every list. */
export const pageQuery = {
  limit: wholeNumberText(LIST_LIMIT, 'The maximum number of items of a page.'),
  cursor: z.string().min(1).max(200).optional().describe('`next_cursor` of the previous page.'),
};

/** Query of a list without filters. */
export const pageListQuery = z.strictObject(pageQuery);

/** The last time that RFC 3339 can write. In UTC a time with an offset may be later. */
const LAST_MOMENT = Date.parse('9999-12-31T23:59:59.999Z');

/** A time in RFC 3339, or a date, which means the beginning of that day in UTC. */
const moment = (description: string) =>
  z
    .union([z.iso.datetime({ offset: true }), z.iso.date()])
    // No row is older than 1970, and Postgres has no year 0, which RFC 3339 allows.
    .transform((text) => new Date(Math.min(Math.max(0, Date.parse(text)), LAST_MOMENT)))
    .meta({
      openapi: {
        type: 'string',
        description,
        anyOf: [{ format: 'date-time' }, { format: 'date' }],
        examples: ['2026-11-01T00:00:00Z', '2026-11-01'],
      },
    });

/** A period of which both ends must be given. */
export const wholePeriod = {
  from: moment('The beginning, inclusive: a time, or a date for 00:00 UTC.'),
  to: moment('The end, exclusive.'),
};

/** The filters of a list by time. */
export const periodFilters = { from: wholePeriod.from.optional(), to: wholePeriod.to.optional() };

/** The filters of checks. */
const filters = {
  vat_number: numberText().optional(),
  ...periodFilters,
  reference: printable(64).optional(),
};

/** The filter of a list by the results of checks. */
export const validFilter = () =>
  z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .meta({ openapi: { type: 'boolean' } });

/** Query of GET /v1/checks. */
export const checkListQuery = z.strictObject({
  ...pageQuery,
  valid: validFilter(),
  ...filters,
});

/** Query of GET /v1/exports/dossier.zip. */
export const dossierQuery = z
  .strictObject({
    ...filters,
    // Any text: an ill-formed id is NOT_FOUND like an unknown one.
    coverage_id: z
      .string()
      .optional()
      .meta({
        openapi: {
          ...z.toJSONSchema(idOf('coverage'), { io: 'input' }),
          description:
            'Only the checks that cover the supplies of this coverage, with its report. Not with other filters.',
        },
      }),
  })
  .refine((query) => query.coverage_id === undefined || Object.keys(query).length === 1, {
    path: ['coverage_id'],
    error: 'cannot be combined with other filters',
  });

/** Query of certificates and reports. */
export const documentQuery = z.strictObject({
  lang: z.enum(DOCUMENT_LANGUAGES).default('en').describe('The language of the document.'),
});

/** A page of a list, newest first. */
export const listOf = <S extends z.ZodType>(item: S) =>
  z.strictObject({
    data: z.array(item),
    next_cursor: z.string().nullable().describe('Send it as `cursor` to get the next page. Null on the last page.'),
  });

/** The success of a list that is read page by page. `examples`: the items of a page. */
export const pageOf = <S extends z.ZodType>(item: S, examples: readonly unknown[]) => ({
  200: { description: 'A page of the list.', schema: listOf(item), example: { data: examples, next_cursor: null } },
});
