import { VerificationError } from './verification-error.js';

/**
 * Headers as any server hands them over: Node's and Express's object, a `Headers` of the Fetch API, or a plain object in
 * any case.
 */
export type ReceivedHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

type HasGet = { get(name: string): unknown };

const hasGet = (headers: object): headers is HasGet => 'get' in headers && typeof headers.get === 'function';

/**
 * Every value of one header, whatever the case of its name; empty values are no values. Never throws, not even for headers
 * that are none at all.
 *
 * @param name in lower case
 */
export const readHeaderValues = (headers: unknown, name: string): string[] => {
  if (typeof headers !== 'object' || headers === null) return [];
  const found = hasGet(headers)
    ? [headers.get(name)]
    : Object.entries(headers).flatMap(([key, value]: [string, unknown]) => (key.toLowerCase() === name ? value : []));
  return found.filter((value): value is string => typeof value === 'string' && value !== '');
};

/**
 * The one value of a header; null when it is absent. Two different values throw MALFORMED_HEADER: choosing one would let
 * somebody on the way decide which.
 */
export const readHeader = (headers: unknown, name: string): string | null => {
  const [value, ...others] = new Set(readHeaderValues(headers, name));
  if (others.length > 0) throw new VerificationError('MALFORMED_HEADER', `${name} was sent with different values`);
  return value ?? null;
};
