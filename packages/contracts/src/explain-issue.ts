import type { z } from 'zod';

/** The source of an input. In a query, a repeated parameter is an array, and fields are called parameters. */
export type InputSource = 'body' | 'query';

type RawIssue = z.core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'an RFC 3339 time, such as 2026-11-01T00:00:00Z',
  date: 'a date, such as 2026-11-01',
  email: 'an e-mail address',
};

/** The end of a time with an offset such as +01:00 whose + was not encoded: in a query that is a blank. */
const LOST_PLUS = / \d\d:\d\d$/;

const badFormat = ({ format, input }: RawIssue & { code: 'invalid_format' }, source: InputSource): string => {
  if (format === 'datetime' && source === 'query' && LOST_PLUS.test(String(input)))
    return 'has a blank where the + of its offset should be: write + as %2B';
  return `must be ${FORMATS[format] ?? 'well-formed'}`;
};

/** The JSON type of a value. */
const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'boolean' ? 'a boolean' : (TYPES[typeof value] ?? typeof value);
};

/** `a, b or c`, with quotes around everything that is not a plain word. */
const choiceOf = (values: readonly unknown[]): string => {
  const shown = values.map((value) => (/^\w+$/.test(String(value)) ? String(value) : JSON.stringify(value)));
  return [shown.slice(0, -1).join(', '), ...shown.slice(-1)].filter((part) => part !== '').join(' or ');
};

const wrongType = ({ expected, input, path = [] }: RawIssue & { code: 'invalid_type' }): string => {
  if (expected === 'int' && typeof input === 'number') return `must be ${TYPES.int}`;
  // Without a path it is the body, which is an object, or one form of a field that has several.
  const wanted = path.length === 0 && expected === 'object' ? 'a JSON object' : (TYPES[expected] ?? expected);
  return `must be ${wanted}, not ${typeOf(input)}`;
};

const outOfRange = (issue: RawIssue & { code: 'too_small' | 'too_big' }): string => {
  const [bound, limit] = issue.code === 'too_small' ? ['at least', issue.minimum] : ['at most', issue.maximum];
  if (issue.origin === 'number' || issue.origin === 'int') return `must be ${bound} ${limit}`;
  if (issue.code === 'too_small' && limit === 1) return 'must not be empty';
  return `must have ${bound} ${limit} ${issue.origin === 'string' ? 'characters' : 'entries'}`;
};

/**
 * What is wrong with a field, as the rest of a sentence that begins with its name: `is required`. It is passed to zod with
 * each parse, so a schema needs messages only for patterns and refinements. They too are the rest of such a sentence.
 */
export const explainIssue =
  (source: InputSource) =>
  (issue: RawIssue): string => {
    if (issue.code === 'unrecognized_keys') return `is not a known ${source === 'query' ? 'parameter' : 'field'}`;
    if (issue.input === undefined) return 'is required';
    if (source === 'query' && Array.isArray(issue.input)) return 'may be given once';
    switch (issue.code) {
      case 'invalid_type':
        return wrongType(issue);
      case 'invalid_value':
        return `must be ${choiceOf(issue.values)}`;
      case 'too_small':
      case 'too_big':
        return outOfRange(issue);
      case 'invalid_format':
        return badFormat(issue, source);
      case 'invalid_union':
        // The first alternative is the full form; the others are short forms of it.
        return issue.errors[0]?.[0]?.message ?? 'is not valid';
      default:
        return 'is not valid';
    }
  };
