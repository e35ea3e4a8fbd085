import { createHash } from 'node:crypto';
import { AppError, type Reader } from '@vat/domain';

/** All that tells a list from every other: its name, whose it is, its filters. JSON tells two such apart. */
export type ListIdentity = readonly [name: string, ...rest: unknown[]];

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
export const encodeCursor = (uuid: string, list: ListIdentity): string =>
  Buffer.concat([Buffer.from(uuid.replaceAll('-', ''), 'hex'), digestOf(list)]).toString('base64url');

/** Throws BAD_REQUEST for a cursor that no list gave. */
export const refuseCursor = (message = 'cursor is not one that a list gave you'): never => {
  throw new AppError('BAD_REQUEST', { message: `${message}.`, extra: { fields: [{ path: 'cursor', message }] } });
};

/** The id that a list's cursor stands for; throws BAD_REQUEST for one of no list or of another. */
export const decodeCursor = (cursor: string, list: ListIdentity): string => {
  if (!FORM.test(cursor)) return refuseCursor();
  const bytes = Buffer.from(cursor, 'base64url');
  if (!bytes.subarray(ID_BYTES).equals(digestOf(list))) {
    return refuseCursor('cursor belongs to another list, or to this one with other filters');
  }
  const hex = bytes.toString('hex', 0, ID_BYTES);
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
};
