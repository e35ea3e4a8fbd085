import { ERROR_CATALOGUE, type ErrorCode, type ErrorSpec } from '@vat/domain';
import { z } from 'zod';
import { checkEntrySchema } from './check-schema.js';
import { instant } from './instant.js';

/** The extra fields an error can carry, by name. Which code carries which is the catalogue's to say. */
const EXTRA_FIELDS = {
  fields: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  retry_after: z.int().min(1).describe('Seconds, as in the Retry-After header.'),
  reset_at: instant(),
  pending: z.int().min(0),
  active: z.int().min(0),
  limit: z.int().min(0),
  line: z.int().min(1),
  checks: z.array(checkEntrySchema),
} as const;

/** `fields` and `checks` tell more where there is more to tell; the others are always there. */
const SOMETIMES: readonly string[] = ['fields', 'checks'];

/** The envelope of one code, exactly: its extra fields and no others. */
export const errorSchema = (code: ErrorCode) => {
  const spec: ErrorSpec = ERROR_CATALOGUE[code];
  const extra = Object.fromEntries(
    (spec.extra ?? []).map((name) => {
      const field = EXTRA_FIELDS[name as keyof typeof EXTRA_FIELDS];
      return [name, SOMETIMES.includes(name) ? field.optional() : field];
    }),
  );
  return z.strictObject({ error: z.strictObject({ code: z.literal(code), message: z.string(), ...extra }) });
};
