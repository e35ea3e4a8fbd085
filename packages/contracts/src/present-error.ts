import type { AppError, FieldError } from '@vat/domain';
import type { ZodError } from 'zod';

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
