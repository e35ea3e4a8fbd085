import type { AppError, FieldError } from '@vat/domain';
import type { ZodError } from 'zod';

/** The error envelope; extra fields lie inside `error`. Source: contract part 1 §2. */
export const presentError = (error: AppError) => ({
  error: { code: error.code, message: error.message, ...error.extra },
});

/** What a caller must correct, from what zod found. */
export const fieldErrors = (error: ZodError): FieldError[] =>
  error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: `${key} is not a known field` }))
      : [{ path: issue.path.join('.'), message: issue.message }],
  );
