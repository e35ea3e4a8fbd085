import { AppError } from '@vat/domain';

/** Bytes of a batch's file. Source: contract part 1 §8. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** Bytes that a form may need around its file: boundaries, headers and fields. */
export const ENVELOPE_BYTES = 64 * 1024;

/** A file as it was sent, whole in memory. */
export type Upload = {
  bytes: Buffer;
  /** As the caller declared it, lower case; `null` without a word about it. */
  charset: string | null;
  /** Without folders; `null` without one. */
  fileName: string | null;
  /** Text sent beside the file. */
  fields: Readonly<Record<string, string>>;
};

/** A BAD_REQUEST about one part of an upload; `path` is the field's name, or a header's. `message` has no full stop. */
export const refuseUpload = (path: string, message: string, cause?: unknown): AppError =>
  new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path, message }] }, cause });
