import { decodeCursor, encodeCursor, type ListIdentity } from './cursor.js';

/**
 * A page of a list and the cursor of the next, `null` on the last. `find` gets the id at which the page before ended, `null`
 * for the first, and reads so many rows at most. Throws BAD_REQUEST for a cursor that is not of this list.
 */
export const readPage = async <Row extends { id: string }>(
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  list: ListIdentity,
  find: (position: string | null, most: number) => Promise<Row[]>,
): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const position = cursor === undefined ? null : decodeCursor(cursor, list);
  // One more than asked for tells whether there is a next page.
  const found = await find(position, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: found.length > limit && last ? encodeCursor(last.id, list) : null };
};
