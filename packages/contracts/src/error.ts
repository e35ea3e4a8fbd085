import {
  type AppError,
  ERROR_CATALOGUE,
  type ErrorCode,
  type ErrorSpec,
  type FieldError,
  grouped,
  MAX_COUNTED_DELIVERIES,
} from '@vat/domain';
import { type ZodError, z } from 'zod';
import { checkEntrySchema } from './check.js';
import { instant } from './text.js';

type ExtraOf<Spec> = Spec extends { extra: readonly (infer Name extends string)[] } ? Name : never;

/** The name of a field that an error of the catalogue has beside `code` and `message`. */
export type ExtraField = ExtraOf<(typeof ERROR_CATALOGUE)[ErrorCode]>;

/** The extra fields of errors, by name. The catalogue says which code has which fields. */
const EXTRA_FIELDS = {
  fields: z.array(z.strictObject({ path: z.string(), message: z.string() })),
  retry_after: z.int().min(1).describe('Seconds to wait, as in the Retry-After header.'),
  reset_at: instant(),
  pending: z.int().min(0),
  matched: z
    .int()
    .min(0)
    .describe(`The matching deliveries. Counting ends at ${grouped(MAX_COUNTED_DELIVERIES)}.`),
  active: z.int().min(0),
  limit: z.int().min(0),
  line: z.int().min(1),
  checks: z.array(checkEntrySchema),
} satisfies Record<ExtraField, z.ZodType>;

/** Extra fields that an error may omit. */
const OPTIONAL: readonly string[] = ['fields', 'checks'];

/** The error envelope of one code, with exactly its extra fields. */
export const errorSchema = (code: ErrorCode) => {
  const spec: ErrorSpec = ERROR_CATALOGUE[code];
  const extra = Object.fromEntries(
    (spec.extra ?? []).map((name) => {
      const field = EXTRA_FIELDS[name as ExtraField];
      return [name, OPTIONAL.includes(name) ? field.optional() : field];
    }),
  );
  return z.strictObject({ error: z.strictObject({ code: z.literal(code), message: z.string(), ...extra }) });
};

/** The error envelope. Extra fields lie inside `error`. */
export const presentError = (error: AppError) => ({
  error: { code: error.code, message: error.message, ...error.extra },
});

/** More than anybody reads; a body may have thousands of unknown fields. */
const MAX_FIELDS = 50;

/** The first {@link MAX_FIELDS} fields that a caller must correct, with the messages of {@link explainIssue}. */
export const fieldErrors = (error: ZodError): FieldError[] =>
  error.issues
    .flatMap((issue) => {
      const isUnknown = issue.code === 'unrecognized_keys';
      const paths = isUnknown ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      return paths.map((parts) => {
        const path = parts.join('.');
        // A name can be empty: `{"": 1}`, `?=1`.
        const subject = path || (isUnknown ? '""' : 'The body');
        return { path, message: `${subject} ${issue.message}` };
      });
    })
    .slice(0, MAX_FIELDS);
