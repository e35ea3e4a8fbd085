import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { FACT_LENGTH, keptFacts } from './read-answer.js';

test('keeps what is stated, on one line, and nothing that is not', () => {
  expect(keptFacts({ name: ' A\u0007\r\nB ', address: null, status: '', receipt: '\u0000' })).toEqual({ name: 'A B' });
  expect(keptFacts({ name: null, vat_numbers: null, matches: null })).toBeUndefined();
  expect(keptFacts(undefined)).toBeUndefined();
});

test('an empty list of VAT numbers is a statement, and a long one is cut', () => {
  expect(keptFacts({ vat_numbers: [] })).toEqual({ vat_numbers: [] });
  expect(keptFacts({ vat_numbers: Array.from({ length: 500 }, () => 'FR1') })?.vat_numbers).toHaveLength(20);
});

test('no fact is ever too long or holds what the hash of a check cannot', () => {
  const surrogates = fc.array(fc.integer({ min: 0, max: 0xffff })).map((units) => String.fromCharCode(...units));
  const text = fc.oneof(anyText({ maxLength: 800 }), surrogates);
  fc.assert(
    fc.property(text, fc.array(text), (name, numbers) => {
      const facts = keptFacts({ name, vat_numbers: numbers });
      for (const value of [facts?.name ?? '', ...(facts?.vat_numbers ?? [])]) {
        expect(value.length).toBeLessThanOrEqual(FACT_LENGTH);
        expect(value).not.toMatch(/[\p{Cc}\p{Cs}]/u);
      }
    }),
  );
});
