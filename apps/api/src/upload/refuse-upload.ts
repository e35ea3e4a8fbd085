import { AppError } from '@vat/domain';

/** A BAD_REQUEST about one part of an upload; `path` is the field's name, or a header's. `message` has no full stop. */
export const refuseUpload = (path: string, message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path, message }] }, cause });
