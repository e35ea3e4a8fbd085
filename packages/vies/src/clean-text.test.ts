import { anyText } from '@vat/testkit/any-text';
import fc from 'fast-check';
import { cleanText } from './wire.js';

const NAME = { limit: 20, multiline: false };

describe('cleaning a text of the upstream', () => {
  test.each([
    ['Quirky\u0000 \u0007Tra\u009Fder\uD800 &\u007F \uDC00Sons\u001B', 'Quirky Trader & Sons'],
    ['  ΑΕ «ΔΟΚΙΜΗ» Żółć 🏭 ', 'ΑΕ «ΔΟΚΙΜΗ» Żółć 🏭'],
    ['two\r\nlines', 'two lines'],
    ['---', null],
    ['\u0000---\u0000', null],
    ['a'.repeat(30), 'a'.repeat(20)],
    [`${'a'.repeat(19)}🏭`, 'a'.repeat(19)],
  ])('turns %j into %j', (text, expected) => {
    expect(cleanText(text, NAME)).toBe(expected);
  });

  test('keeps the lines of an address', () => {
    expect(cleanText(' 1 Street\r\n\u00001000 Town\n', { limit: 100, multiline: true })).toBe('1 Street\n1000 Town');
  });

  test('leaves no character that could change a hash', () => {
    fc.assert(
      fc.property(anyText(), fc.boolean(), (text, multiline) => {
        const cleaned = cleanText(`${text}\uDFFF\uD83C`, { limit: 10, multiline });
        if (cleaned === null) return;
        expect(Buffer.from(cleaned).toString()).toBe(cleaned); // a lone surrogate would not survive UTF-8
        expect([...cleaned].filter((char) => /\p{Cc}/u.test(char) && !(multiline && char === '\n'))).toEqual([]);
        expect(cleaned.length).toBeLessThanOrEqual(10);
      }),
      { numRuns: 500 },
    );
  });
});
