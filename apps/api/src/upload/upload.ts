/** Maximum bytes of an uploaded file, see docs/batches.md. */
export const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** Bytes that a form may need in addition to its file: boundaries, headers and fields. */
export const ENVELOPE_BYTES = 64 * 1024;

/** An uploaded file, complete in memory. */
export type Upload = {
  bytes: Buffer;
  /** As the caller declared it, in lower case; `null` when none was declared. */
  charset: string | null;
  /** Without folders; `null` when there is none. */
  fileName: string | null;
  /** Text fields of the form. */
  fields: Readonly<Record<string, string>>;
};
