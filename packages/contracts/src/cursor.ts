/** A list's position as an opaque string: where the page ended. Ids are time-ordered, so one id is enough. */
export const encodeCursor = (uuid: string): string =>
  Buffer.from(uuid.replaceAll('-', ''), 'hex').toString('base64url');

/** The id in a cursor; `null` when it is none of ours. */
export const decodeCursor = (cursor: string): string | null => {
  if (!/^[A-Za-z0-9_-]{22}$/.test(cursor)) return null;
  const hex = Buffer.from(cursor, 'base64url').toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
