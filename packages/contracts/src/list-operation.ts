import type { z } from 'zod';
import { pageListQuery } from './list-query.js';
import { listOf } from './list-schema.js';
import type { Operation } from './operation.js';

type ListOperation = Pick<Operation, 'path' | 'id' | 'tag' | 'summary' | 'description' | 'idPrefix'> & {
  /** Paging alone where nothing else is said. */
  query?: z.ZodObject;
  item: z.ZodType;
  /** The items of a page. */
  examples: readonly unknown[];
  /** Test keys are refused. */
  live?: true;
};

/** The operation that reads a list page by page. */
export const listOperation = ({ query = pageListQuery, item, examples, live, ...rest }: ListOperation): Operation => ({
  ...rest,
  method: 'get',
  query,
  success: {
    200: {
      description: 'A page.',
      schema: listOf(item),
      example: { data: examples, next_cursor: null },
    },
  },
  errors: [
    ...(live ? (['TEST_KEY_NOT_ALLOWED'] as const) : []),
    'BAD_REQUEST',
    ...(rest.idPrefix === undefined ? [] : (['NOT_FOUND'] as const)),
  ],
});
