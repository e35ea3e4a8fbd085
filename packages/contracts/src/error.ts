import { type AppError, ERROR_CATALOGUE, type ErrorCode, type ErrorSpec, type FieldError } from '@vat/domain';
import { type ZodError, z } from 'zod';
import { checkEntrySchema } from './check.js';
import { instant } from './text.js';

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

/** The error envelope; extra fields lie inside `error`. Source: contract part 1 §2. */
export const presentError = (error: AppError) => ({
  error: { code: error.code, message: error.message, ...error.extra },
});

/** What a caller must correct, from what zod found and {@link explainIssue} said about it. */
export const fieldErrors = (error: ZodError): FieldError[] =>
  error.issues.flatMap((issue) => {
    const places = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
    return places.map((place) => {
      const path = place.join('.');
      return { path, message: `${path === '' ? 'The body' : path} ${issue.message}` };
    });
  });
