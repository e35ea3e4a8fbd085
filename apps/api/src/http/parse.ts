import { explainIssue, fieldErrors, type InputSource } from '@vat/contracts';
import { AppError } from '@vat/domain';
import type { z } from 'zod';

/** The input as its schema reads it; throws BAD_REQUEST with the fields to correct. */
export const parse = <S extends z.ZodType>(schema: S, input: unknown, source: InputSource = 'body'): z.output<S> => {
  const parsed = schema.safeParse(input, { error: explainIssue(source) });
  if (parsed.success) return parsed.data;
  const fields = fieldErrors(parsed.error);
  const message = fields.map((field) => field.message).join('. ');
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields } });
};
