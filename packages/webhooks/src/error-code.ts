/** The `code` of an error of Node or a library, e.g. ENOTFOUND; null when it has none. */
export const errorCode = (error: unknown): string | null => {
  if (typeof error !== 'object' || error === null || !('code' in error)) return null;
  return typeof error.code === 'string' ? error.code : null;
};
