import fc from 'fast-check';
import { csvRow } from './csv-row.js';

describe('csvRow', () => {
  it('quotes what needs it and doubles quotes', () => {
    expect(csvRow(['a', 'b,c', 'say "x"', 'two\nlines', ''])).toBe('a,"b,c","say ""x""","two\nlines",\r\n');
  });

  it('never begins a cell with what a spreadsheet runs, also after blanks and unseen marks', () => {
    const lead = fc.constantFrom('', ' ', '\u00a0', '\t', '\ufeff', '\u200b', '\n', '\u3000');
    const sign = fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n');
    fc.assert(
      fc.property(lead, sign, fc.string(), (blank, first, rest) => {
        expect(csvRow([`${blank}${first}${rest}`]).replace(/^"/, '')).toMatch(/^'/);
      }),
    );
  });
});
