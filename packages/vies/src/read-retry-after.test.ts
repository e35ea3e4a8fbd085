import type { LookupOutcome } from '@vat/domain';
import fc from 'fast-check';
import { readRetryAfter } from './create-vies-client.js';

const RECEIVED = new Date('2026-11-22T12:00:00.000Z');
const noAnswer = (code: string | null = null): LookupOutcome => ({
  kind: 'no_answer',
  outcome: 'unavailable',
  code,
  scope: null,
  detail: null,
});
const read = (headers: Record<string, string>, { status = 429, outcome = noAnswer() } = {}) =>
  readRetryAfter(outcome, { status, headers }, RECEIVED);

test.each([
  ['7', 7_000],
  [' 7 ', 7_000],
  ['60', 60_000],
  ['61', 60_000],
  ['86400', 60_000],
  ['999999999999', 60_000],
  ['9'.repeat(400), 60_000],
  ['Sun, 22 Nov 2026 12:00:30 GMT', 30_000],
  ['Sunday, 22-Nov-26 12:00:30 GMT', 30_000],
  ['Sun Nov 22 12:00:30 2026', 30_000],
  ['Sun, 22 Nov 2026 13:00:00 GMT', 60_000],
])('%j is a delay', (value, ms) => {
  expect(read({ 'retry-after': value })?.ms).toBe(ms);
});

test.each(['0', '', 'soon', '-5', '1.5', '1e3', 'Sun, 22 Nov 2026 11:00:00 GMT', 'Sun, 99 Nov 2026'])(
  '%j is no delay',
  (value) => {
    expect(read({ 'retry-after': value })).toBeNull();
  },
);

test('a date is compared with the clock of the upstream when it sends one', () => {
  const headers = { 'retry-after': 'Sun, 22 Nov 2026 10:00:20 GMT', date: 'Sun, 22 Nov 2026 10:00:00 GMT' };
  expect(read(headers)?.ms).toBe(20_000);
});

test.each([
  [429, noAnswer(), 'global'],
  [503, noAnswer(), 'global'],
  [200, noAnswer('GLOBAL_MAX_CONCURRENT_REQ'), 'global'],
  [200, noAnswer('SERVICE_UNAVAILABLE'), 'global'],
  [200, noAnswer('MS_UNAVAILABLE'), 'member_state'],
  [503, noAnswer('MS_MAX_CONCURRENT_REQ'), 'member_state'],
  [500, noAnswer('VOW-ERR-1'), 'request'],
  [200, noAnswer('VAT_BLOCKED'), 'request'],
  [200, { kind: 'rejected', code: 'INVALID_INPUT' } satisfies LookupOutcome, 'request'],
])('under HTTP %i with %j it delays: %s', (status, outcome, scope) => {
  expect(read({ 'retry-after': '5' }, { status, outcome })).toEqual({ ms: 5_000, scope });
});

test('whatever the header holds, the wait is at most a minute', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.nat().map(String),
        fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
      ),
      (value) => {
        const ms = read({ 'retry-after': value })?.ms ?? 1;
        expect(ms > 0 && ms <= 60_000).toBe(true);
      },
    ),
  );
});
