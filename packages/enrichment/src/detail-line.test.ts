import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { DETAIL_LENGTH, detailLine } from './read-answer.js';

test('names each fact, omits empty ones and writes booleans as yes and no', () => {
  const line = detailLine([
    ['status', 'Czynny'],
    ['krs', null],
    ['regon', ''],
    ['address', undefined],
    ['bank accounts', 0],
    ['inactive', false],
    ['registered', true],
  ]);
  expect(line).toBe('status: Czynny; bank accounts: 0; inactive: no; registered: yes');
});

test('turns line breaks into spaces and removes control characters and lone surrogates', () => {
  expect(detailLine([['address', 'ul. Prosta 1\r\n00-001\tWarszawa\u0007\u007f\ud800']])).toBe(
    'address: ul. Prosta 1 00-001 Warszawa',
  );
});

test('is never too long and never contains characters that cannot be hashed', () => {
  const anything = anyText({ maxLength: 400 });
  const withSurrogates = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constant('key'), fc.oneof(anything, withSurrogates))), (facts) => {
      const line = detailLine(facts);
      expect(line.length).toBeLessThanOrEqual(DETAIL_LENGTH);
      expect(line).not.toMatch(/[\p{Cc}\p{Cs}]/u);
    }),
  );
});

test('does not cut a character outside the basic plane in half', () => {
  for (const pad of [0, 1]) {
    const line = detailLine([['k', `${'a'.repeat(pad)}${'😀'.repeat(200)}`]]);
    expect(line).toMatch(/😀…$/u);
    expect(line).not.toMatch(/\p{Cs}/u);
  }
});
