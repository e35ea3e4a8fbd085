import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { FACT_LENGTH, storedFacts } from './read-answer.js';

test('stores only stated facts, each on one line', () => {
  expect(storedFacts({ name: ' A\u0007\r\nB ', address: null, status: '', receipt: '\u0000' })).toEqual({
    name: 'A B',
  });
  expect(storedFacts({ name: null, vat_numbers: null, matches: null })).toBeUndefined();
  expect(storedFacts(undefined)).toBeUndefined();
});

test('stores an empty list of VAT numbers, and truncates a long one', () => {
  expect(storedFacts({ vat_numbers: [] })).toEqual({ vat_numbers: [] });
  expect(storedFacts({ vat_numbers: Array.from({ length: 500 }, () => 'FR1') })?.vat_numbers).toHaveLength(20);
});

test('no fact is too long or contains characters that cannot be hashed', () => {
  const surrogates = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  const text = fc.oneof(anyText({ maxLength: 800 }), surrogates);
  fc.assert(
    fc.property(text, fc.array(text), (name, numbers) => {
      const facts = storedFacts({ name, vat_numbers: numbers });
      for (const value of [facts?.name ?? '', ...(facts?.vat_numbers ?? [])]) {
        expect(value.length).toBeLessThanOrEqual(FACT_LENGTH);
        expect(value).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }
    }),
  );
});
