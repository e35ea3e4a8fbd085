import { z } from 'zod';

/** A page of a list, newest first. */
export const listOf = <S extends z.ZodType>(item: S) =>
  z.strictObject({
    data: z.array(item),
    next_cursor: z.string().nullable().describe('Send it as `cursor` for the next page; null on the last.'),
  });
