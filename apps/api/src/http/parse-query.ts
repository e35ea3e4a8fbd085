import type { z } from 'zod';
import { parse } from './parse.js';

/** A query as its schema reads it; throws BAD_REQUEST with the parameters to correct. */
export const parseQuery = <S extends z.ZodType>(schema: S, query: unknown): z.output<S> =>
  parse(schema, query, 'query');
