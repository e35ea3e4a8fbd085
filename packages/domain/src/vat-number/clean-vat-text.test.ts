import fc from 'fast-check';
import { cleanVatText } from './clean-vat-text.js';

describe('cleanVatText', () => {
  test.each([
    ['spaces', 'DE 123 456 789'],
    ['tabs and line breaks', '\tDE123\r\n456789\n'],
    ['no-break, thin, figure and ideographic spaces', 'DE\u00A0123\u2009456\u2007789\u3000'],
    ['hyphens and dashes', 'DE-123\u2010456\u2011789\u2013\u2014\u2015'],
    ['minus signs and hyphen bullets', 'DE\u2212123\u2043456\uFE63789\uFF0D'],
    ['dots, slashes and underscores', 'DE.123/456_789'],
    ['full-width separators', 'DE．123／456＿789'],
    ['colons, commas and semicolons', 'DE: 123,456;789'],
    ['round brackets', 'DE (123) 456 789'],
    ['apostrophes and quotation marks', `'DE"123'456"789'`],
    ['typographic quotation marks', '\u201EDE\u2019123\u2018456\u00B4789\u201C'],
    ['full-width colons, commas and brackets', 'DE：（123）456，789；'],
    ['middle dots and bullets', '\u2022DE\u00B7123\u2027456789'],
    ['a byte order mark', '\uFEFFDE123456789'],
    ['zero-width characters', 'DE\u200B123\u200C456\u200D789\u2060'],
    ['soft hyphens and direction marks', '\u202ADE\u00AD123456789\u200E\u202C'],
    ['control characters', 'DE\u0000123\u007F456\u0085789'],
    ['lone surrogates', 'DE\uD800123456\uDC00789'],
    ['variation selectors', 'DE123456789\uFE0F'],
  ])('takes out %s', (_what, text) => {
    expect(cleanVatText(text)).toBe('DE123456789');
  });

  test.each([
    ['lower case', 'ie6433435f', 'IE6433435F'],
    ['full-width letters and digits', 'ＤＥ１２３４５６７８９', 'DE123456789'],
    ['circled and superscript digits', 'DE①²', 'DE12'],
  ])('makes %s plain', (_what, text, cleaned) => {
    expect(cleanVatText(text)).toBe(cleaned);
  });

  test.each([
    ['Cyrillic letters', 'РL'],
    ['Greek letters', 'ΕL'],
    ['Arabic digits', 'DE١٢٣'],
    ['plus and asterisk, which Irish numbers contain', 'IE8+*'],
    ['square brackets, which nobody puts around a number', 'DE[1]'],
  ])('leaves %s alone', (_what, text) => {
    expect(cleanVatText(text)).toBe(text);
  });

  test('reads a number among any number of separators, and cuts what is too long for one, so that it is none', () => {
    const separators = ' .-'.repeat(100_000);
    expect(cleanVatText(`${separators}de 123${separators}456789${separators}`)).toBe('DE123456789');
    // Sorting these marks would take half a second.
    const marks = '\u0301'.repeat(16_000) + '\u0316'.repeat(16_000);
    for (const text of [`DE123456789${marks}`, `DE123456789${'…'.repeat(500)}X`, `DE${'1'.repeat(500)}`]) {
      const cleaned = cleanVatText(text);
      expect([cleaned.length < 1_000, cleaned.endsWith('?')]).toEqual([true, true]);
    }
  });

  test('makes no difference when applied to an already clean ASCII text', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z0-9+*?]*$/), (text) => {
        expect(cleanVatText(text)).toBe(text);
      }),
    );
  });
});
