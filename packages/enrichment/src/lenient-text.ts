import { z } from 'zod';

/**
 * Text of a foreign register: a string or number as trimmed text; null for anything else, so that one field that
 * changed its type does not cost the whole answer.
 */
export const lenientText = z
  .union([z.string(), z.number()])
  .transform((value) => String(value).trim() || null)
  .nullable()
  .catch(null)
  .default(null);
