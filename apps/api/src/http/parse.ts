import { createHash } from 'node:crypto';
import { type ParsedUrlQuery, parse as parseParameters } from 'node:querystring';
import { explainIssue, fieldErrors, type InputSource } from '@vat/contracts';
import { AppError, badRequest, type Reader } from '@vat/domain';
import type { z } from 'zod';

/** Parses an input by its schema. Throws BAD_REQUEST with the fields to correct. */
export const parse = <S extends z.ZodType>(schema: S, input: unknown, source: InputSource = 'body'): z.output<S> => {
  const parsed = schema.safeParse(input, { error: explainIssue(source) });
  if (parsed.success) return parsed.data;
  const fields = fieldErrors(parsed.error);
  const message = fields.map((field) => field.message).join('. ');
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields } });
};

/** Parses a query by its schema. Throws BAD_REQUEST with the parameters to correct. */
export const parseQuery = <S extends z.ZodType>(schema: S, query: unknown): z.output<S> =>
  parse(schema, query, 'query');

/**
 * The query parser of the app. Throws BAD_REQUEST for a query that is not percent-encoded UTF-8: its bytes would be replaced, and
 * another text would be searched for or stored.
 */
export const readQuery = (query: string | null | undefined): ParsedUrlQuery => {
  const text = query ?? '';
  try {
    decodeURIComponent(text);
  } catch (cause) {
    throw badRequest('', 'The query is not percent-encoded UTF-8', cause);
  }
  // All of them: by default those after the thousandth are left out, and with them what would be refused.
  return parseParameters(text, '&', '=', { maxKeys: 0 });
};

/** Identifies a list: its name, its owner and its filters. Must be distinguishable as JSON. */
type ListIdentity = readonly [name: string, ...rest: unknown[]];

/** The owner of a list. Test keys and live keys of an account have separate lists. */
export const ownerOf = ({ accountId, testOnly }: Reader): string => (testOnly ? `${accountId} test` : accountId);

const ID_BYTES = 16;
const LIST_BYTES = 8;
const FORM = /^[A-Za-z0-9_-]{32}$/;

const digestOf = (list: ListIdentity, position: Uint8Array): Buffer =>
  createHash('sha256').update(JSON.stringify(list)).update(position).digest().subarray(0, LIST_BYTES);

/**
 * A position in a list as an opaque string: the id at which the page ended, and a digest of the list and the id. Ids are
 * time-ordered, so one id is enough. The digest is no protection, since rows of other accounts are never read anyway: it detects
 * a cursor that was altered or belongs to another list.
 */
const encodeCursor = (uuid: string, list: ListIdentity): string => {
  const position = Buffer.from(uuid.replaceAll('-', ''), 'hex');
  return Buffer.concat([position, digestOf(list, position)]).toString('base64url');
};

/** Throws BAD_REQUEST about the cursor. */
export const refuseCursor = (message = 'cursor is not one that a list gave you'): never => {
  throw badRequest('cursor', message);
};

const NO_POSITION = new Uint8Array();

/** The id in a cursor. Throws BAD_REQUEST when the cursor is malformed, was altered or belongs to another list. */
const decodeCursor = (cursor: string, list: ListIdentity): string => {
  if (!FORM.test(cursor)) return refuseCursor();
  const bytes = Buffer.from(cursor, 'base64url');
  const position = bytes.subarray(0, ID_BYTES);
  // Cursors of releases before 1.0.0-rc.2 have the digest of the list alone; clients page across an upgrade.
  if (![position, NO_POSITION].some((of) => bytes.subarray(ID_BYTES).equals(digestOf(list, of)))) {
    return refuseCursor('cursor belongs to another list, or to this one with other filters');
  }
  const hex = position.toString('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};

/**
 * Reads a page of a list and the cursor of the next page, `null` on the last page. `find` gets the id at which the previous
 * page ended, `null` for the first page, and the maximum number of rows. Throws BAD_REQUEST for a cursor of another list.
 */
export const readPage = async <Row extends { id: string }>(
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  list: ListIdentity,
  find: (position: string | null, limit: number) => Promise<Row[]>,
): Promise<{ rows: Row[]; nextCursor: string | null }> => {
  const position = cursor === undefined ? null : decodeCursor(cursor, list);
  // One row more than requested shows whether there is a next page.
  const found = await find(position, limit + 1);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: found.length > limit && last ? encodeCursor(last.id, list) : null };
};

/** {@link readPage} as the reply of a list's operation. `present` makes an item of the list from a row. */
export const replyWithPage = async <Row extends { id: string }, Item>(
  query: { limit: number; cursor?: string | undefined },
  list: ListIdentity,
  find: (position: string | null, limit: number) => Promise<Row[]>,
  present: (row: Row) => Item,
) => {
  const { rows, nextCursor } = await readPage(query, list, find);
  return { status: 200 as const, body: { data: rows.map(present), next_cursor: nextCursor } };
};
