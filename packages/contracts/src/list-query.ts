import { z } from 'zod';

/** Page sizes of every list. Source: contract part 2 §1. */
export const LIST_LIMIT = { default: 20, max: 100 } as const;

/** The paging parameters every list takes. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `limit is a whole number from 1 to ${LIST_LIMIT.max}`)
    .transform(Number)
    .pipe(z.number().min(1, 'limit is at least 1').max(LIST_LIMIT.max, `limit is at most ${LIST_LIMIT.max}`))
    .default(LIST_LIMIT.default),
  cursor: z.string().min(1).max(200).optional(),
};

/** A moment as RFC 3339, or a plain day which means its beginning in UTC. */
const moment = (name: string) =>
  z
    .union(
      [z.iso.datetime({ offset: true }), z.iso.date()],
      `${name} is an RFC 3339 time, such as 2026-11-01T00:00:00Z`,
    )
    .transform((text) => new Date(text));

/** Query of GET /v1/checks. `from` is inclusive, `to` exclusive. */
export const checkListQuery = z.strictObject({
  ...pageQuery,
  vat_number: z.string().min(1).max(40).optional(),
  valid: z
    .enum(['true', 'false'], 'valid is true or false')
    .transform((text) => text === 'true')
    .optional(),
  from: moment('from').optional(),
  to: moment('to').optional(),
  reference: z.string().min(1).max(64).optional(),
});
