import { createHash } from 'node:crypto';
import { explainIssue, fieldErrors, type InputSource } from '@vat/contracts';
import { AppError, type Reader } from '@vat/domain';
import type { z } from 'zod';

/** The input as its schema reads it; throws BAD_REQUEST with the fields to correct. */
export const parse = <S extends z.ZodType>(schema: S, input: unknown, source: InputSource = 'body'): z.output<S> => {
  const parsed = schema.safeParse(input, { error: explainIssue(source) });
  if (parsed.success) return parsed.data;
  const fields = fieldErrors(parsed.error);
  const message = fields.map((field) => field.message).join('. ');
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields } });
};

/** A query as its schema reads it; throws BAD_REQUEST with the parameters to correct. */
export const parseQuery = <S extends z.ZodType>(schema: S, query: unknown): z.output<S> =>
  parse(schema, query, 'query');

/** All that tells a list from every other: its name, whose it is, its filters. JSON tells two such apart. */
type ListIdentity = readonly [name: string, ...rest: unknown[]];

/** Whose list it is: a test key's is another one than that of the account's live keys. */
export const ownerOf = ({ accountId, testOnly }: Reader): string => (testOnly ? `${accountId} test` : accountId);

const ID_BYTES = 16;
const LIST_BYTES = 8;
const FORM = /^[A-Za-z0-9_-]{32}$/;

const digestOf = (list: ListIdentity): Buffer =>
  createHash('sha256').update(JSON.stringify(list)).digest().subarray(0, LIST_BYTES);

/**
 * A list's position as an opaque string: where the page ended, and of which list. Ids are time-ordered, so one id is
 * enough. The digest keeps no secret: rows of others are never read, it finds cursors that would silently lead elsewhere.
 */
const encodeCursor = (uuid: string, list: ListIdentity): string =>
  Buffer.concat([Buffer.from(uuid.replaceAll('-', ''), 'hex'), digestOf(list)]).toString('base64url');

/** Throws BAD_REQUEST for a cursor that no list gave. */
export const refuseCursor = (message = 'cursor is not one that a list gave you'): never => {
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path: 'cursor', message }] } });
};

/** The id that a list's cursor stands for; throws BAD_REQUEST for one of no list or of another. */
const decodeCursor = (cursor: string, list: ListIdentity): string => {
  if (!FORM.test(cursor)) return refuseCursor();
  const bytes = Buffer.from(cursor, 'base64url');
  if (!bytes.subarray(ID_BYTES).equals(digestOf(list))) {
    return refuseCursor('cursor belongs to another list, or to this one with other filters');
  }
  const hex = bytes.toString('hex', 0, ID_BYTES);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

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
