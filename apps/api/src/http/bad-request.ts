import { AppError } from '@vat/domain';

/** A BAD_REQUEST about one part of a call. `path`: the name of a field, parameter or header. `message`: without a full stop. */
export const badRequest = (path: string, message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path, message }] }, cause });
