import { z } from 'zod';
import { changePasswordBody, createKeyBody, signUpBody } from './account.js';
import { batchFields, lineListQuery } from './batch.js';
import { checkRequestBody } from './check.js';
import { fieldErrors } from './error.js';
import { explainIssue, type InputSource } from './explain-issue.js';
import { checkListQuery } from './lists.js';
import { emptyBody } from './text.js';
import { resultsQuery } from './upload.js';
import { watchRequestBody } from './watch.js';
import { resendBody } from './webhook.js';

const messagesOf = (schema: z.ZodType, input: unknown, source: InputSource): string[] => {
  const parsed = schema.safeParse(input, { error: explainIssue(source) });
  return parsed.success ? [] : fieldErrors(parsed.error).map(({ message }) => message);
};

const check = (fields: object) => [checkRequestBody, { vat_number: 'DE1', ...fields }] as const;
const watch = (fields: object) => [watchRequestBody, { vat_number: 'DE1', frequency: 'daily', ...fields }] as const;
const signUp = (fields: object) =>
  [signUpBody, { name: 'Acme', email: 'a@example.com', password: 'correct horse', ...fields }] as const;
// Kinds that no body of today has.
const count = (value: unknown) => [z.strictObject({ count: z.int().min(1).max(9) }), { count: value }] as const;
const tags = (value: unknown) => [z.strictObject({ tags: z.array(z.string()).min(2) }), { tags: value }] as const;
const SAME = { current_password: 'correct horse', new_password: 'correct horse' };
const day = (value: unknown) => [z.strictObject({ day: z.iso.date() }), { day: value }] as const;

test.each<[string, readonly [z.ZodType, unknown]]>([
  ['vat_number is required', [checkRequestBody, {}]],
  ['frequency is required', [watchRequestBody, { vat_number: 'DE1' }]],
  ['name is required', [createKeyBody, {}]],
  ['vat_number must be a string, not a number', check({ vat_number: 5 })],
  ['vat_number must be a string, not null', check({ vat_number: null })],
  ['vat_number must be a string, not an array', check({ vat_number: ['DE1'] })],
  ['reference must be a string, not a boolean', check({ reference: true })],
  ['reference must be a string, not an object', check({ reference: {} })],
  ['trader must be an object, not a string', check({ trader: 'Acme' })],
  ['trader.name must be a string, not a number', check({ trader: { name: 5 } })],
  ['label must be a string, not a number', watch({ label: 5 })],
  ['test must be true or false, not a string', [createKeyBody, { name: 'a', test: 'yes' }]],
  ['vat_number must not be empty', check({ vat_number: '' })],
  ['vat_number must have at most 40 characters', check({ vat_number: '1'.repeat(41) })],
  ['reference must not be empty', check({ reference: '' })],
  ['reference must not be empty', check({ reference: '  ' })],
  ['reference must not be empty', check({ reference: '\u00a0\n' })],
  ['label must not be empty', watch({ label: '  ' })],
  ['name must not be empty', [createKeyBody, { name: '  ' }]],
  ['name must not be empty', signUp({ name: ' ' })],
  ['trader.city must not be empty', check({ trader: { city: ' ' } })],
  ['reference must have at most 64 characters', check({ reference: 'r'.repeat(65) })],
  ['reference must not contain control characters', check({ reference: 'a\nb' })],
  ['country_code must be two letters, such as DE', check({ country_code: 'Deutschland' })],
  ['password must have at least 12 characters', signUp({ password: 'short' })],
  ['email must be an e-mail address', signUp({ email: 'nobody' })],
  ['new_password must not be the current one', [changePasswordBody, SAME]],
  ['surprise is not a known field', check({ surprise: 1 })],
  ['trader.surname is not a known field', check({ trader: { surname: 'x' } })],
  ['"" is not a known field', check({ '': 1 })],
  ['frequency must be weekly or daily', watch({ frequency: 'hourly' })],
  ['frequency must be weekly or daily', watch({ frequency: 5 })],
  ['count must be a number, not a string', count('1')],
  ['count must be a whole number', count(1.5)],
  ['count must be at least 1', count(0)],
  ['count must be at most 9', count(10)],
  ['tags must have at least 2 entries', tags(['a'])],
  ['day must be a date, such as 2026-11-01', day('20 November')],
  ['from must be a string, not a number', [resendBody, { from: 5, to: '2026-11-01' }]],
  ['from must be an RFC 3339 time, such as 2026-11-01T00:00:00Z', [resendBody, { from: '', to: '2026-11-01' }]],
  ['The body must be a JSON object, not null', [checkRequestBody, null]],
  ['The body must be a JSON object, not an array', [checkRequestBody, []]],
  ['The body must be a JSON object, not a string', [emptyBody, 'x']],
  ['The body must be a JSON object, not a number', [emptyBody, 5]],
])('of a body: %s', (message, [schema, input]) => {
  expect(messagesOf(schema, input, 'body')).toEqual([message]);
});

test.each<[string, z.ZodType, Record<string, unknown>]>([
  ['reference must not be empty', checkListQuery, { reference: '  ' }],
  ['label must not be empty', batchFields, { label: ' ' }],
  ['reference may be given once', checkListQuery, { reference: ['a', 'b'] }],
  ['vat_number may be given once', checkListQuery, { vat_number: ['a', 'b'] }],
  ['limit may be given once', checkListQuery, { limit: ['1', '2'] }],
  ['cursor may be given once', checkListQuery, { cursor: ['a', 'b'] }],
  ['valid may be given once', checkListQuery, { valid: ['true', 'true'] }],
  ['from may be given once', checkListQuery, { from: ['2026-11-01', '2026-11-02'] }],
  ['limit must be a whole number from 1 to 100', checkListQuery, { limit: '1.5' }],
  ['limit must be at least 1', checkListQuery, { limit: '0' }],
  ['limit must be at most 100', checkListQuery, { limit: '101' }],
  ['cursor must not be empty', checkListQuery, { cursor: '' }],
  ['valid must be true or false', checkListQuery, { valid: 'yes' }],
  ['from must be an RFC 3339 time, such as 2026-11-01T00:00:00Z', checkListQuery, { from: 'yesterday' }],
  ['to must be an RFC 3339 time, such as 2026-11-01T00:00:00Z', checkListQuery, { to: '2026-13-01' }],
  [
    'to has a blank where the + of its offset should be: write + as %2B',
    checkListQuery,
    { to: '2026-11-01T00:00:00 01:00' },
  ],
  ['surprise is not a known parameter', checkListQuery, { surprise: '1' }],
  ['"" is not a known parameter', checkListQuery, { '': '1' }],
  ['status must be queued, done or failed', lineListQuery, { status: 'gone' }],
  ['delimiter must be ",", ";" or tab', resultsQuery, { delimiter: 'x' }],
  ['delimiter may be given once', resultsQuery, { delimiter: [',', ';'] }],
])('of a query: %s', (message, schema, input) => {
  expect(messagesOf(schema, input, 'query')).toEqual([message]);
});

test('each of several wrong fields has its message', () => {
  expect(messagesOf(checkRequestBody, { reference: '', surprise: 1 }, 'body')).toEqual([
    'vat_number is required',
    'reference must not be empty',
    'surprise is not a known field',
  ]);
});

test('of very many wrong fields the first are named', () => {
  const body = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`f${n}`, 1]));
  expect(messagesOf(checkRequestBody, body, 'body')).toHaveLength(50);
});
