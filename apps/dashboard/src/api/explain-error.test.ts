import { ERROR_CATALOGUE, type ErrorCode } from '@vat/domain';
import { ApiError, explainError, isTransient, parseJson } from './errors.js';

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

test.each(CODES)('%s has a cause and a remedy for dashboard users', (code) => {
  const { message, status } = ERROR_CATALOGUE[code];
  const { cause, remedy } = explainError(new ApiError(status, code, message));
  expect(cause).toBe(message.replace('requester_vat_number', 'Requester'));
  expect(remedy).not.toBe('');
  // Users see no API headers, field names or markup.
  expect(remedy).not.toMatch(/`|Authorization|Idempotency/);
  expect(cause).not.toMatch(/[a-z]_[a-z]/);
});

test('explanations include seconds, the end of the month, the line of a file and fields', () => {
  const explain = (code: ErrorCode, extra: object) => explainError(new ApiError(400, code, 'Cause.', extra));
  expect(explain('TOO_MANY_SIGN_INS', { retry_after: 12.2 }).remedy).toBe('Try again in 13 s.');
  expect(explain('TOO_MANY_SIGN_INS', { retry_after: 600 }).remedy).toBe('Try again in 10 min.');
  expect(explain('QUOTA_EXCEEDED', { reset_at: '2026-12-01T00:00:00.000Z' }).remedy).toMatch(/December|2026/);
  const limit = explain('BATCH_LINE_LIMIT', { reset_at: '2026-12-01T12:30:00.000Z' }).remedy;
  expect(limit).toMatch(/^Upload the file after .*2026/);
  expect(limit).not.toContain('month');
  expect(explain('INVALID_CSV', { line: 7 }).cause).toBe('Cause (line 7).');
  expect(explain('INVALID_FILE', { line: 7 }).cause).toBe('Cause (row 7).');
  expect(explain('INVALID_CSV', { line: 1 }).cause).toBe('Cause.');
  const dated = new ApiError(400, 'INVALID_CSV', 'Line 2: “31.02.2026” is not a date of the calendar.', { line: 2 });
  expect(explainError(dated).cause).toBe('Line 2: “31.02.2026” is not a date of the calendar.');
  expect(explain('BAD_REQUEST', { fields: [{ path: 'name', message: 'name is empty' }] }).fields).toHaveLength(1);
  const age = { fields: [{ path: 'max_age_days', message: 'max_age_days must be at least 1.' }] };
  expect(explain('BAD_REQUEST', age).cause).toBe('Maximum age in days must be at least 1.');
});

test('a page says what NOT_FOUND means there', () => {
  const error = new ApiError(404, 'NOT_FOUND', 'The anchor has no time-stamp yet.');
  const explained = explainError(error, { notFoundRemedy: 'Try again later.' });
  expect(explained).toMatchObject({ cause: 'The anchor has no time-stamp yet.', remedy: 'Try again later.' });
  expect(explainError(error).remedy).toMatch(/^It may have been deleted/);
});

test('network errors, proxy errors and internal errors are distinguished', () => {
  expect(explainError(new TypeError('Failed to fetch')).cause).toBe('The service cannot be reached.');
  expect(explainError(new ApiError(502, null, 'The service responded with status 502 and no details.')).remedy).toMatch(
    /again/,
  );
  expect(explainError(new ApiError(500, 'INTERNAL', 'Oops.', {}, 'req-1')).requestId).toBe('req-1');
});

test('a page of a proxy in place of a response is explained, and may be gone at the next attempt', async () => {
  const error = await parseJson(new Response('<!doctype html>')).catch((caught: unknown) => caught);
  expect(explainError(error).cause).toMatch(/^The response is not from the service\./);
  expect(isTransient(error)).toBe(true);
  expect(await Promise.all([parseJson(new Response('')), parseJson(new Response('[1]'))])).toEqual([null, [1]]);
});

test('rate limiting is explained, and it is the only client error that is retried', () => {
  const limited = new ApiError(429, 'RATE_LIMITED', 'More than 50 calls in one second in this session.', {
    retry_after: 1,
  });
  expect(explainError(limited)).toMatchObject({
    cause: 'More than 50 calls in one second in this session.',
    remedy: 'Try again in 1 s.',
  });
  const others = CODES.filter((code) => code !== 'RATE_LIMITED' && ERROR_CATALOGUE[code].status < 500);
  expect(others.filter((code) => isTransient(new ApiError(ERROR_CATALOGUE[code].status, code, '')))).toEqual([]);
  expect([limited, new TypeError('Failed to fetch'), new ApiError(502, null, '')].map(isTransient)).toEqual([
    true,
    true,
    true,
  ]);
});
